"""How a text of a known `format` is spelt. Stricter than the standards, so that whatever checks it is content."""

from __future__ import annotations

from collections.abc import Mapping

from callgate.gate.emulation.expressions import Expression, bounded
from callgate.gate.emulation.patterns import read_expression

_DATE = (
    r"(19|20)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    r"|02-(0[1-9]|1[0-9]|2[0-8]))"
)
_CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_ZONE = r"(Z|[+-](0[0-9]|1[0-2]):00)"
_BYTE = r"(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_LABEL = r"[a-z0-9]{1,24}"
_HOST = rf"{_LABEL}(\.{_LABEL}){{0,2}}\.[a-z]{{2,6}}"
_PATTERNS = {
    "date": _DATE,
    "time": _CLOCK + _ZONE,
    "date-time": f"{_DATE}T{_CLOCK}{_ZONE}",
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "email": rf"[A-Za-z0-9]{{1,24}}([._-][A-Za-z0-9]{{1,24}}){{0,2}}@{_HOST}",
    "hostname": _HOST,
    "ipv4": rf"({_BYTE}\.){{3}}{_BYTE}",
    "uri": rf"https?://{_HOST}(/[A-Za-z0-9._~-]{{0,40}}){{0,8}}",
}


def _spelt(pattern: str) -> Expression:
    expression = read_expression(pattern)
    assert expression is not None, pattern
    return bounded(expression, 64)


FORMATS: Mapping[str, Expression] = {name: _spelt(pattern) for name, pattern in _PATTERNS.items()}
