"""The answers that both sides read: words, and a call with a long argument, in chunks as tokens come."""

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
PLAIN_NAME = "plain words, a chunk"
CALL_NAME = f"a streamed call of {len(CALL):,} characters"
