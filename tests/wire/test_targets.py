from __future__ import annotations

import pytest

from callgate.vocabulary import ModelRef
from callgate.wire import shown_ref


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ("http://me:s3@cret@lab:1/v1#m@1", "http://lab:1/v1#m@1"),
        ("ollama+http://me:s3cret@lab:1#m", "ollama+http://lab:1#m"),
        ("http://me:s3cret@lab/v1", "http://lab/v1"),
        ("https://me:s3cret@lab/m.gguf", "file:https://lab/m.gguf"),
        ("https://lab/m.gguf?token=s3cret", "file:https://lab/m.gguf"),
        ("qwen3:8b", "ollama:qwen3:8b"),
        ("hf:a/b@main", "hf:a/b@main"),
        ("tiny", "tiny"),
    ],
)
def test_a_model_is_shown_without_the_password_for_its_server(named: str, shown: str) -> None:
    assert shown_ref(ModelRef.parse(named)) == shown
    assert str(ModelRef.parse(shown)) == shown
