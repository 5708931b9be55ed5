"""Ollama, over its own API.

`backend` puts together what the others know: `request` writes what is asked and `chunks` reads what is answered,
`context` finds the context that a prompt needs, `versions` knows what old servers lack, `errors` what refusals mean,
and `names` how models are listed.
"""

from callgate.backends.ollama.backend import OllamaBackend, make

__all__ = ["OllamaBackend", "make"]
