"""What llama.cpp says while it works, and which line of it says why it failed."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

MOST_LINES = 400
LONGEST_LINE = 500
_STAMP = re.compile(r"^[\d.]+ ([A-Z]) +(?:(?:srv|cmn|slot|que|res) +)?")
_SPEAKER = re.compile(r"^\s*[\w.~]+: +(?=\S)")
_TROUBLE = re.compile(r"\b(?:error|failed|invalid|unable|cannot|can't|unknown|unsupported|exceeds|not enough|out of)\b")
_HINTS = {
    "memory": "take a smaller context (`llamacpp.context`), a smaller model or a smaller quantisation",
    "allocate": "take a smaller context (`llamacpp.context`), a smaller model or a smaller quantisation",
    "architecture": "a newer llama.cpp may know this model: upgrade xllamacpp, or name your own with `llamacpp.server`",
    "template": "the model's chat template is at fault; look for a newer file of the model",
    "file bounds": "is the file whole? fetch it again",
    "mmproj": "see the setting `llamacpp.projector`",
    "flash": "see the setting `llamacpp.flash_attention`",
}


class Complaints:
    """The latest lines, and no more of them than can be kept."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MOST_LINES)

    def add(self, line: bytes) -> None:
        text = "".join(c if c.isprintable() else " " for c in line[:LONGEST_LINE].decode("utf-8", "replace"))
        if text.strip():
            self._lines.append(text.strip())

    def reason(self) -> str:
        """The first line that tells of trouble: later ones tell what came of it. Empty where there is none."""
        troubles = list(_troubles(self._lines))
        last = self._lines[-1] if self._lines else ""
        return _said(troubles[0] if troubles else last)

    def hint(self) -> str:
        """What to do about it."""
        said = " ".join(_troubles(self._lines)).lower()
        return next(
            (hint for word, hint in _HINTS.items() if word in said),
            "see whether another model loads; if it does, fetch this one again",
        )


def _troubles(lines: Iterable[str]) -> Iterator[str]:
    """Lines that llama.cpp marks as errors; where it marks none, those that read like one."""
    kept = list(lines)
    marked = [line for line in kept if (stamp := _STAMP.match(line)) and stamp[1] == "E" and _said(line)]
    yield from marked or (line for line in kept if _TROUBLE.search(line.lower()))


def _said(line: str) -> str:
    text = _STAMP.sub("", line)
    for _ in range(3):  # `srv    load_model: llama_model_load: error loading model: …`
        text = _SPEAKER.sub("", text)
    return text.removeprefix("error: ").strip()
