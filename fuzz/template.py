"""Chat templates: the probe in its sandbox, which must outlive them all."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache

from callgate.detect import TemplateSandbox
from callgate.vocabulary import TemplateError
from tests.detect.template.samples import SAMPLES

EXPECTED: tuple[type[BaseException], ...] = (TemplateError,)
SLOW_S = 3.0

_PIECES = [
    "{{", "}}", "{%", "%}", "{#", "#}", "-", "(", ")", "[", "]", "'", '"', "|", "~", "+", "*", "**", ".", ",",
    " in ", " is ", "messages", "tools", "message.content", "tool_calls", "arguments", "loop.last", "range(9)",
    "none", "true", "not ", "{% for x in messages %}", "{% endfor %}", "{% if tools %}", "{% endif %}",
    "{% set x = 1 %}", "{% macro f(a) %}", "{% endmacro %}", "{{ f(1) }}", "| tojson", "| length", "| safe",
    "| indent", "| items", "| join(',')", "namespace(a=1)", "raise_exception('x')", "strftime_now('%d')",
    "{% break %}", "{% continue %}", "{% generation %}", "{% endgeneration %}", "{% raw %}", "{% endraw %}", "\n",
    "\r\n", "\\", "é", "\0", "9" * 20,
]  # fmt: skip


def seeds() -> Iterable[bytes]:
    return [sample.source.encode() for sample in SAMPLES.values()]


def mutate(data: bytes, rng: random.Random) -> bytes:
    text = data.decode(errors="replace")
    for _ in range(rng.randint(1, 4)):
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice((0, 0, 1, 4, 20)))
        text = text[:start] + rng.choice(_PIECES) + text[end:]
    return text.encode()


@cache
def _sandbox() -> TemplateSandbox:
    return TemplateSandbox()


def one_input(data: bytes) -> str:
    report = _sandbox().probe(data.decode(errors="replace"))
    assert not report.requires_typed_content or report.supports_typed_content
    assert not (report.requires_object_arguments and report.requires_string_arguments)
    assert report.supports_tool_calls or not report.supports_parallel_tool_calls
    return report.engine.partition(",")[0]
