"""What a model can do, from its header alone: llama.cpp's own word describes its default template only, and errs."""

from __future__ import annotations

from callgate.detect import Finding, TemplateSandbox, find_in
from callgate.vocabulary import Facts


def examined(facts: Facts) -> Finding:
    """Renders the templates among `facts`, in a process of their own."""
    with TemplateSandbox() as sandbox:
        return find_in(facts, sandbox)
