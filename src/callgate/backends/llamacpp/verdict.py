"""What a model can do, from its header alone: llama.cpp's own word describes its default template only, and errs."""

from __future__ import annotations

from callgate.detect import TemplateReport, TemplateSandbox, conclude, evidence_of
from callgate.vocabulary import Capabilities, Facts, TemplateError

_THAT_COUNT = ("default", "tool_use")


def capabilities_of(facts: Facts) -> Capabilities:
    """Renders the templates among `facts`, in a process of their own."""
    reports: dict[str, TemplateReport] = {}
    broken: dict[str, TemplateError] = {}
    templates = facts.templates or {}
    with TemplateSandbox() as sandbox:
        for name in _THAT_COUNT:
            if name in templates:
                try:
                    reports[name] = sandbox.probe(templates[name], facts.tokens)
                except TemplateError as error:
                    broken[name] = error
    evidence = evidence_of(facts, None if facts.templates is None else reports, broken)
    return conclude(facts.name, tuple(evidence), has_tool_use_template="tool_use" in templates)
