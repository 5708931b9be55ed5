"""What `./dev` runs besides other people's tools: pinning the requirements, and the house rules."""
