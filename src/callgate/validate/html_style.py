"""How the page looks: by day, by night, on a telephone and on paper."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

SHADES = 10
_HEAT_BY_DAY = ("#f7c9b8", "#f6eed3", "#b4e2d0")
_HEAT_BY_NIGHT = ("#74331f", "#4d4728", "#1a5b47")
"""None passed, half of them, all. Told apart by those who can't tell red from green."""

_RULES = files("callgate.validate").joinpath("report.css").read_text("utf-8")


def _mixed(anchors: tuple[str, str, str], share: float) -> str:
    first, second, place = (
        (anchors[0], anchors[1], share * 2) if share <= 0.5 else (anchors[1], anchors[2], share * 2 - 1)
    )
    channels = (
        round(int(first[at : at + 2], 16) * (1 - place) + int(second[at : at + 2], 16) * place) for at in (1, 3, 5)
    )
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def _shades(anchors: tuple[str, str, str]) -> str:
    return "".join(f"--h{shade}:{_mixed(anchors, shade / SHADES)};" for shade in range(SHADES + 1))


STYLE = (
    _RULES.replace("@DAY@", _shades(_HEAT_BY_DAY))
    .replace("@NIGHT@", _shades(_HEAT_BY_NIGHT))
    .replace("@HEAT@", "".join(f".h{shade}{{background:var(--h{shade})}}" for shade in range(SHADES + 1)))
    .strip()
)
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    f"style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'"
)
"""Nothing may be fetched or run, and no style holds but ours: whatever a model said stays mere text."""


def heat(rate: float) -> str:
    """The class of a cell; what is nearly all isn't shown as all."""
    shade = round(rate * SHADES)
    if rate < 1:
        shade = min(shade, SHADES - 1)
    if rate > 0:
        shade = max(shade, 1)
    return f"h{shade}"
