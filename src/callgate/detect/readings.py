"""All that can be read out of a model's facts, put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from callgate.detect.gguf import header_evidence
from callgate.detect.names import default_evidence, name_evidence
from callgate.detect.servers import server_evidence
from callgate.detect.template import TemplateReport, template_evidence
from callgate.vocabulary import Answer, Evidence, Facts, Source, TemplateError


def evidence_of(
    facts: Facts, reports: Mapping[str, TemplateReport] | None, broken: Mapping[str, TemplateError]
) -> Iterator[Evidence]:
    """Everything that speaks for or against anything that the model might be able to do.

    `reports` and `broken` are what came of examining `facts.templates`, each by the template's name.
    """
    for name, error in broken.items():
        detail = f"its template {name!r} can't be examined: {error.message}"
        yield Evidence("tools", Answer.UNKNOWN, Source.TEMPLATE, detail, facts.at)
    if reports or (reports is not None and not broken):
        yield from template_evidence(reports, facts.at)
    yield from header_evidence(facts)
    yield from server_evidence(facts)
    if _is_a_model(facts):
        yield from name_evidence(facts.name, facts.at)
        yield from default_evidence(facts.name, facts.at)


def _is_a_model(facts: Facts) -> bool:
    """A template alone is none: what its file is called says nothing."""
    return facts.templates is None or facts.header is not None or facts.server is not None
