"""Servers that speak OpenAI's protocol: what is asked of them, what they answer, and what their errors mean."""

from callgate.backends.openai.client import OpenAIBackend
from callgate.backends.openai.server import model_names
from callgate.settings import Settings
from callgate.vocabulary import ModelRef
from callgate.wire import HttpClient, normalise_base_url

__all__ = ["OpenAIBackend", "make", "model_names"]


def make(ref: ModelRef, settings: Settings, http: HttpClient) -> OpenAIBackend:
    """The server that `ref` names. It gets the key of the settings only if that is meant for it."""
    endpoint = ref.endpoint or ""
    theirs = normalise_base_url(endpoint).base == normalise_base_url(settings.openai.base_url).base
    return OpenAIBackend(
        endpoint,
        http,
        timeout=settings.detect.server_timeout,
        timeouts=settings.timeouts,
        api_key=settings.openai.api_key if theirs else None,
    )
