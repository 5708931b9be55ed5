from __future__ import annotations

from pathlib import Path

import pytest

from callgate.detect import TemplateSandbox
from callgate.hub import Wishes
from callgate.hub.looking import hint_of
from callgate.hub.records import Summary
from tests.detect.gguf.writer import FLOAT32, INT32, Gguf, Items, Tensor
from tests.hub.played_hub import PlayedHub, Repo
from tests.hub.watching import Watching, pulled
from tests.runtime.played import PLAIN, TOOLS

STRING = 8


def large_model(path: Path, template: str) -> Path:
    """4 GB, nearly all of it a hole, with a vocabulary of 150,000 tokens."""
    count = 150_000
    header = Gguf(
        {
            "general.architecture": "llama",
            "llama.context_length": 131_072,
            "llama.block_count": 32,
            "llama.embedding_length": 4096,
            "llama.attention.head_count": 32,
            "llama.attention.head_count_kv": 8,
            "tokenizer.ggml.tokens": Items(STRING, [f"token{number:06}" for number in range(count)]),
            "tokenizer.ggml.scores": Items(FLOAT32, [0.0] * count),
            "tokenizer.ggml.token_type": Items(INT32, [1] * count),
            "tokenizer.ggml.merges": Items(STRING, [f"to ken{number:06}" for number in range(count)]),
            "tokenizer.chat_template": template,
        },
        [Tensor("token_embd.weight", (4096, count), 12)],
    ).to_bytes()
    with path.open("wb") as file:
        file.write(header)
        file.truncate(4 << 30)
    return path


async def test_a_look_at_a_large_model_moves_little(tmp_path: Path) -> None:
    file = large_model(tmp_path / "m.gguf", TOOLS)
    hub = PlayedHub(owner__name=Repo({"m-Q4_K_M.gguf": file}))
    hub.hashes[id(file)] = "a" * 64
    watching = Watching()
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path / "home", wishes=Wishes(dry_run=True), watching=watching)
    assert (done.verdict, done.looked.header_bytes) == ("yes", hub.sent)
    assert hub.sent < 12_000_000
    assert done.looked.memory
    assert 5e9 < done.looked.memory < 7e9  # its file, some more, and 8,192 tokens of context
    assert watching.seen
    assert watching.seen.finding
    assert watching.seen.finding.capabilities.context_length == 131_072


@pytest.mark.parametrize(
    ("template", "word", "why"),
    [
        (TOOLS, "likely", "its template reads tools"),
        (PLAIN, "perhaps", "a short one without tools"),
        (PLAIN + "{# " + "x" * 1000 + " #}", "perhaps", "`tool_use` variant can't be seen from here"),
        ("{% broken", "perhaps", "can't be examined"),
        ("{% for i in range(10**9) %}{% for j in range(10**9) %}{% endfor %}{% endfor %}", "perhaps", ""),
        (None, "unknown", "no chat template"),
        ("", "unknown", "no chat template"),
    ],
)
def test_a_summary_never_says_no(template: str | None, word: str, why: str, sandbox: TemplateSandbox) -> None:
    hint = hint_of(Summary(chat_template=template), sandbox)
    assert (hint.word, why in hint.why) == (word, True)
    assert hint.evidence().claim == "note"


def test_no_summary_is_no_hint(sandbox: TemplateSandbox) -> None:
    assert hint_of(None, sandbox).word == "unknown"
