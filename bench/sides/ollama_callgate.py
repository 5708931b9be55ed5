"""callgate's client of Ollama."""

from bench.sides.callgate_texts import texts_of
from bench.sides.streaming import measure
from callgate.backends import OllamaBackend

measure(
    "ollama",
    lambda url, model: texts_of(lambda http: OllamaBackend(url, http, timeout=5), model),
    must_stay_level=True,
)
