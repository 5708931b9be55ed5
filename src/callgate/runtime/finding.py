"""What one look at a model comes to: from its facts to what it can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from callgate.detect import TemplateReport, TemplateSandbox, conclude, evidence_of
from callgate.vocabulary import CallgateError, Capabilities, Evidence, Facts, TemplateError

_DEFAULT = "default"
_TOOL_USE = "tool_use"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    facts: Facts
    evidence: tuple[Evidence, ...]
    """As it was found, before it was weighed."""
    capabilities: Capabilities
    failure: CallgateError | None = None
    """Why its server gave no answer: the capabilities are a guess then."""


def find_in(facts: Facts, sandbox: TemplateSandbox, failure: CallgateError | None = None) -> Finding:
    """Examines the templates among `facts`, reads all the rest, and weighs it.

    Raises: TemplateError, if a template that can't be examined is all there is.
    """
    reports: dict[str, TemplateReport] = {}
    broken: dict[str, TemplateError] = {}
    for name, source in _that_count(facts.templates or {}):
        try:
            reports[name] = sandbox.probe(source, facts.tokens)
        except TemplateError as error:
            broken[name] = error
    if broken and not reports and facts.header is None and facts.server is None:
        raise next(iter(broken.values()))
    seen = None if facts.templates is None else reports
    return weigh(facts, evidence_of(facts, seen, broken), failure)


def _that_count(templates: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Of a model's templates the default one, or else the first, and the one for tools: there may be thousands."""
    main = _DEFAULT if _DEFAULT in templates else next(iter(templates), _DEFAULT)
    for name in dict.fromkeys((main, _TOOL_USE)):
        if name in templates:
            yield name, templates[name]


def weigh(facts: Facts, evidence: Iterable[Evidence], failure: CallgateError | None) -> Finding:
    found = tuple(evidence)
    known = conclude(
        facts.name,
        found,
        guess=failure is not None,
        has_tool_use_template=_TOOL_USE in (facts.templates or ()),
    )
    known = msgspec.structs.replace(known, cached_at=facts.at)
    return Finding(facts=facts, evidence=found, capabilities=known, failure=failure)
