"""What ships with callgate: the model in the box."""
