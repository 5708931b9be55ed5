"""The formats, as data: one record for each way in which models are known to write calls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from callgate.gate.recovery.formats_of_code import CODE_FORMATS
from callgate.gate.recovery.formats_of_json import JSON_FORMATS
from callgate.gate.recovery.formats_of_tags import TAG_FORMATS
from callgate.gate.recovery.shapes import Format

KNOWN = (*JSON_FORMATS, *TAG_FORMATS, *CODE_FORMATS)
"""Those that are tried where nothing is known of the model."""

EVERY_BARE = ("json", "pythonic", "named", "fenced")

FORMATS: Mapping[str, Format] = {
    **{known.name: known for known in KNOWN},
    "ollama_generic": Format(
        "ollama_generic",
        tuple(dict.fromkeys(block for known in KNOWN for block in known.blocks)),
        sections=tuple(dict.fromkeys(section for known in KNOWN for section in known.sections)),
        bare=EVERY_BARE,
        thinking=tuple(dict.fromkeys(tags for known in KNOWN for tags in known.thinking)),
        channels=True,
        example="any of the others",
    ),
    "json": Format("json", bare=("json", "fenced"), example='{"name": "get_weather", "arguments": {"city": "Paris"}}'),
    "plain_no_tools": Format("plain_no_tools", example="no calls at all"),
}
"""All, by name. `ollama_generic` is all of them in one, as a server has it that takes whatever comes."""

_ANYBODYS = (FORMATS["hermes_json"], FORMATS["json"])
"""What models fall back on that forget what they were trained for."""


@lru_cache(maxsize=64)
def formats_for(template: str | None, family: str | None) -> tuple[Format, ...]:
    """The formats to try for a model: what its chat template has, else what its family is known for, else all.

    A model may forget what it was trained for: what all of them know is always among them.
    """
    found = [known for known in KNOWN if template and known.markers and all(mark in template for mark in known.markers)]
    if not found and family:
        said = family.lower()
        found = [known for known in KNOWN if said.startswith(known.families)]
    return tuple(dict.fromkeys((*found, *_ANYBODYS))) if found else KNOWN
