"""llama.cpp: a supervisor that runs it in children of ours, one for each loaded model, and asks them over HTTP.

A child imports from here too, so that nothing is loaded before it is used.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.backends.llamacpp.backend import LlamaCppBackend, make
    from callgate.backends.llamacpp.files import memory_to_run
    from callgate.backends.llamacpp.supervisor import free_memory

__all__ = ["LlamaCppBackend", "free_memory", "make", "memory_to_run"]

__getattr__ = opened_on_use(
    __name__,
    {"LlamaCppBackend": "backend", "free_memory": "supervisor", "make": "backend", "memory_to_run": "files"},
)
