"""What one look at a model comes to: from its facts to what it can do."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callgate.detect.readings import evidence_of
from callgate.detect.template import Examined, TemplateSandbox, templates_that_count
from callgate.detect.weighing import conclude
from callgate.vocabulary import CallgateError, Capabilities, Evidence, Facts, TemplateError

_TOOL_USE = "tool_use"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    facts: Facts
    evidence: tuple[Evidence, ...]
    """As it was found, before it was weighed."""
    capabilities: Capabilities
    failure: CallgateError | None = None
    """Why its server gave no answer: the capabilities are a guess then."""
    flaw: TemplateError | None = None
    """Why a template of it can't be examined."""


def find_in(facts: Facts, sandbox: TemplateSandbox, failure: CallgateError | None = None) -> Finding:
    """Examines the templates among `facts`, reads all the rest, and weighs it.

    Raises: TemplateError, if a template that can't be examined is all there is.
    """
    examined: dict[str, Examined] = {}
    flaw: TemplateError | None = None
    for name, source in templates_that_count(facts.templates or {}).items():
        try:
            examined[name] = sandbox.probe(source, facts.tokens)
        except TemplateError as error:
            examined[name] = flaw = error
    if flaw and facts.header is None and facts.server is None:
        raise flaw
    return weigh(facts, evidence_of(facts, examined), failure=failure, flaw=flaw)


def weigh(
    facts: Facts,
    evidence: Iterable[Evidence],
    *,
    failure: CallgateError | None = None,
    flaw: TemplateError | None = None,
) -> Finding:
    found = tuple(evidence)
    known = conclude(
        facts.name,
        found,
        guess=failure is not None,
        has_tool_use_template=_TOOL_USE in (facts.templates or ()),
    )
    known = msgspec.structs.replace(known, cached_at=facts.at)
    return Finding(facts=facts, evidence=found, capabilities=known, failure=failure, flaw=flaw)
