"""What the `openai` package takes to make one of its records of a chunk: any Python program on the way pays that."""

import json
import sys
from importlib.metadata import version

from openai.types.chat import ChatCompletionChunk

from bench.measure import emit, timed

count = int(sys.argv[1])
lines = [
    json.dumps(
        {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "delta": {"content": f" word{number % 50}"}, "finish_reason": None}],
        }
    )
    for number in range(count)
]


def read() -> None:
    for line in lines:
        ChatCompletionChunk.model_validate_json(line)


emit("chunks through the gate", count / timed(read, rounds=3, warm_up=1), "chunks/s", f"openai {version('openai')}")
