"""llama.cpp: a supervisor that runs it in children of ours, one for each loaded model, and asks them over HTTP.

A child imports from here too, so that nothing is loaded before it is used.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.backends.llamacpp.backend import LlamaCppBackend, make

__all__ = ["LlamaCppBackend", "make"]

__getattr__ = opened_on_use(__name__, {"LlamaCppBackend": "backend", "make": "backend"})
