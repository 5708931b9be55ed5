"""Which engine examines a template: minijinja where it is sure to say what Jinja2 would, else Jinja2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.detect.template.differences import first_difference
from callgate.detect.template.minijinja_engine import MinijinjaEngine, Unsure
from callgate.detect.template.probe import SPECIAL_TOKENS, examine
from callgate.detect.template.report import TemplateReport

_OURS = {"messages", "tools", "documents", "add_generation_prompt", *SPECIAL_TOKENS}


def probe(source: str, tokens: Mapping[str, str]) -> TemplateReport:
    """What the chat template `source` can do. In process: see `TemplateSandbox` for templates of strangers.

    Raises: TemplateError, if it doesn't parse; TemplateTooCostly, if it takes too many steps or nests too deeply.
    """
    why = first_difference(source)
    if not why:
        try:
            report = examine(MinijinjaEngine(source), source, tokens)
            if report.supports_string_content or report.supports_typed_content:
                return report
            why = "user messages that don't arrive"
        except Unsure as error:
            why = str(error)
    return _by_jinja(source, tokens, why)


def _by_jinja(source: str, tokens: Mapping[str, str], why: str) -> TemplateReport:
    from callgate.detect.template.jinja_engine import JinjaEngine

    engine = JinjaEngine(source, why=why)
    report = examine(engine, source, tokens)
    if report.supports_string_content or report.supports_typed_content:
        return report
    missing: dict[str, Any] = dict.fromkeys(sorted(engine.variables() - _OURS - tokens.keys()), "")
    if not missing:
        return report
    with_them = examine(engine, source, {**tokens, **missing})
    if not (with_them.supports_string_content or with_them.supports_typed_content):
        return report
    note = f"it needs variables that its host program sets: {', '.join(missing)}"
    return msgspec.structs.replace(with_them, notes=(*with_them.notes, note))
