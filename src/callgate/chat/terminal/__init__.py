"""A chat on a terminal: the prompt, which is there at once, and what is drawn above it."""
