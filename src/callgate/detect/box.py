"""The model in the box: `tiny`, and `tiny-plain`, the same weights with a chat template that has no tools.

Both are for demonstrations and tests.
"""

from __future__ import annotations

import os
import time

import msgspec

from callgate.detect.gguf import facts_of, read_header
from callgate.vocabulary import Facts

_BOX = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data")
BOXED_FILE = os.path.join(_BOX, "tiny.gguf")


def boxed_template(name: str) -> str | None:
    """What takes the place of the file's own template, if anything does."""
    if name == "tiny":
        return None
    with open(os.path.join(_BOX, f"{name}.jinja"), encoding="utf-8") as file:
        return file.read()


def boxed_facts(name: str) -> Facts:
    """What the file says of `tiny` or `tiny-plain`."""
    facts = facts_of(read_header(BOXED_FILE), name, time.time())
    template = boxed_template(name)
    return facts if template is None else msgspec.structs.replace(facts, templates={"default": template})
