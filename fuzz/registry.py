"""The file with what the user said of models: any bytes are read, or told apart; what is read can be written again."""

from __future__ import annotations

from collections.abc import Iterable

from callgate.registry.layout import Document, Unreadable
from callgate.registry.records import Fields
from callgate.vocabulary import ModelRef

EXPECTED: tuple[type[BaseException], ...] = (Unreadable,)
MODEL = ModelRef("ollama", "qwen3:8b")


def seeds() -> Iterable[bytes]:
    yield b'{"version":1,"user_models":[{"id":"qwen3:8b","tool_support":true,"manual_context":8,"x":[1.50,{"y":"z"}]}]}'
    yield b'[{"id":"ollama:qwen3:8b","tool_support":"no","tool_support_confirmed_at":"2026-11-15T05:34:56Z"}]'
    yield b'{"user_models":{"qwen3:8b":true,"file:/m.gguf":{"digest":"d"}}}'
    yield b'{"version":2,"user_models":[]}'


def one_input(data: bytes) -> str | None:
    document = Document.parse(data)
    list(document.records)
    record = document.get(MODEL)
    changed = document.with_fields(MODEL, Fields(tool_support=True, manual_context=1))
    again = Document.parse(changed.to_bytes())
    found = again.get(MODEL)
    assert found is not None
    assert (found.tool_support, found.manual_context) == (True, 1)
    assert len(again.items) == len(document.items) + (record is None)
    assert again.without(MODEL).get(MODEL) is None
    return f"version {min(document.version, 3)}" if record else "other models"
