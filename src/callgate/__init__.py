"""callgate: tool calling that works on local models."""

__version__ = "0.1.0"
