"""The answers that both sides read: words, JSON, and a call with a long argument, in chunks as tokens come."""

from __future__ import annotations

import json
import re

WORDS = (
    "The weather in Lisbon is fine today: 24 degrees, a light wind from the north-west, and no clouds for most of the "
    "afternoon. If you want to go out, take something for the evening (it gets cool after 19:00).\n\n"
)
PLAIN = re.findall(r"\s?\S{1,6}|\s+", WORDS * 200)
CALL = json.dumps({"name": "write_file", "arguments": {"path": "notes.txt", "content": WORDS * 8}})
CALL_CHUNKS = re.findall(r"\s?\S{1,6}|\s+", CALL)
DATA = "".join(
    json.dumps({"id": number, "name": f"sensor {number}", "at": {"x": 1.5, "y": [2, number]}, "tags": ["a", "b"]})
    + "\n"
    for number in range(1000)
)
DATA_CHUNKS = [DATA[at : at + 4] for at in range(0, len(DATA), 4)]
PLAIN_NAME = "plain words, a chunk"
DATA_NAME = "lines of JSON, a chunk"
CALL_NAME = f"a streamed call of {len(CALL):,} characters"
