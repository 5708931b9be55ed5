"""What a model can do, from its header alone: llama.cpp's own word describes its default template only, and errs."""

from __future__ import annotations

from callgate.detect import TemplateSandbox, find_in
from callgate.vocabulary import Capabilities, Facts


def capabilities_of(facts: Facts) -> Capabilities:
    """Renders the templates among `facts`, in a process of their own."""
    with TemplateSandbox() as sandbox:
        return find_in(facts, sandbox).capabilities
