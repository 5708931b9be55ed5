"""What is told to OpenTelemetry of a request, in its words."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from opentelemetry.util.types import AttributeValue

from callgate.backends import place_of
from callgate.settings import Settings
from callgate.vocabulary import ChatRequest, ModelRef
from callgate.wire import normalise_base_url, ollama_base_url

_PROVIDERS = {
    "api.anthropic.com": "anthropic",
    "api.cohere.com": "cohere",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral_ai",
    "api.moonshot.ai": "moonshot_ai",
    "api.perplexity.ai": "perplexity",
    "api.x.ai": "x_ai",
    "generativelanguage.googleapis.com": "gcp.gemini",
}
"""By the address. All other servers that speak OpenAI's protocol are told apart by theirs."""
_AZURE = ".openai.azure.com"
_NUMBERS = ("temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty")
_MOST_STOPS = 8
LONGEST = 256


def plain(text: str) -> str:
    """A file's name may have bytes in it that are no text."""
    return text[:LONGEST].encode("utf-8", "replace").decode()


def whose(ref: ModelRef, settings: Settings) -> dict[str, AttributeValue]:
    """Who runs the model, and where."""
    kind = place_of(ref)[0]
    if kind == "ollama":
        return {"gen_ai.provider.name": "ollama", **_where(ollama_base_url(ref.endpoint or settings.ollama.host))}
    if ref.endpoint is None:
        return {"gen_ai.provider.name": "llama.cpp" if kind == "llamacpp" else plain(kind)}
    where = _where(normalise_base_url(ref.endpoint).base)
    host = str(where.get("server.address", ""))
    provider = "azure.ai.openai" if host.endswith(_AZURE) else _PROVIDERS.get(host, "openai")
    return {"gen_ai.provider.name": provider, **where}


def _where(url: str) -> dict[str, AttributeValue]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return {}
    return {"server.address": plain(host), "server.port": port} if host else {}


def asked_for(request: ChatRequest, *, stream: bool) -> dict[str, AttributeValue]:
    """How the model is to answer. It is the client's word, of whatever type."""
    told: dict[str, AttributeValue] = {}
    options = request.options
    for name in _NUMBERS:
        if (number := _number(options.get(name))) is not None:
            told[f"gen_ai.request.{name}"] = float(number)
    if (seed := _number(options.get("seed"))) is not None:
        told["gen_ai.request.seed"] = int(seed)
    stops = options.get("stop")
    if stops:
        every = [stops] if isinstance(stops, str) else stops if isinstance(stops, list | tuple) else []
        told["gen_ai.request.stop_sequences"] = [plain(each) for each in every[:_MOST_STOPS] if isinstance(each, str)]
    if request.max_tokens is not None:
        told["gen_ai.request.max_tokens"] = request.max_tokens
    if stream:
        told["gen_ai.request.stream"] = True
    if request.schema is not None:
        told["gen_ai.output.type"] = "json"
    if request.tools:
        told["callgate.tools"] = len(request.tools)
    return told


def _number(value: Any) -> float | int | None:
    """One that fits where it is sent."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and -(2**63) < value < 2**63 else None
