"""Servers that speak OpenAI's protocol: what is asked of them, what they answer, and what their errors mean."""

from callgate.backends.openai.client import OpenAIBackend
from callgate.backends.openai.server import model_names
from callgate.settings import Settings
from callgate.vocabulary import ModelRef
from callgate.wire import HttpClient

__all__ = ["OpenAIBackend", "make", "model_names"]


def make(ref: ModelRef, settings: Settings, http: HttpClient) -> OpenAIBackend:
    """The server that `ref` names."""
    return OpenAIBackend(ref.endpoint or "", http, timeout=settings.detect.server_timeout, timeouts=settings.timeouts)
