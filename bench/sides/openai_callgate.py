"""callgate's client of OpenAI-compatible servers."""

from bench.sides.callgate_texts import texts_of
from bench.sides.streaming import measure
from callgate.backends import OpenAIBackend

measure(
    "openai",
    lambda url, model: texts_of(lambda http: OpenAIBackend(url, http, timeout=5), model),
    must_stay_level=True,
)
