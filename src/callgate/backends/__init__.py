"""Who runs a model. For now a backend tells what its server knows about a model (`facts`)."""

from callgate.backends.ollama import OllamaBackend
from callgate.backends.openai import OpenAIBackend

__all__ = ["OllamaBackend", "OpenAIBackend"]
