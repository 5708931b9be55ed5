"""All that can be read out of a model's facts, put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from callgate.detect.gguf import header_evidence
from callgate.detect.names import default_evidence, name_evidence
from callgate.detect.servers import server_evidence
from callgate.detect.template import Examined, template_evidence
from callgate.vocabulary import IN_THE_BOX, Evidence, Facts, Source, TemplateError


def evidence_of(facts: Facts, examined: Mapping[str, Examined]) -> Iterator[Evidence]:
    """Everything that speaks for or against anything that the model might be able to do.

    `examined` is what came of examining `facts.templates`, by the template's name.
    """
    if facts.templates is not None:
        yield from template_evidence(examined, facts.at)
    yield from header_evidence(facts)
    if facts.name in IN_THE_BOX and facts.header is not None:
        yield Evidence("note", "it is for demonstrations and tests", Source.HEADER, "the model in the box", facts.at)
    yield from server_evidence(facts)
    if _is_a_model(facts):
        broken = any(isinstance(outcome, TemplateError) for outcome in examined.values())
        for found in name_evidence(facts.name, facts.at):
            if not (broken and found.claim == "tools"):  # a good name doesn't make up for a bad template
                yield found
        yield from default_evidence(facts.name, facts.at)


def _is_a_model(facts: Facts) -> bool:
    """A template alone is none: what its file is called says nothing."""
    return facts.templates is None or facts.header is not None or facts.server is not None
