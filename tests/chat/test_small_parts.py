from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.output import DummyOutput

from callgate.chat.meter import Meter
from callgate.chat.tables import cut, in_columns, width_of
from callgate.chat.terminal.blocks import LARGEST_OPEN, MarkdownBlocks
from callgate.chat.terminal.drawing import Drawing
from callgate.chat.terminal.front import Front
from callgate.chat.terminal.past import LARGEST_FILE, Past
from callgate.chat.terminal.status_line import status_line
from callgate.chat.views import Status
from callgate.chat.words import as_kept, in_thousands, name_of, why_in_short
from callgate.vocabulary import Message, ModelRef, Usage


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (512, "512"),
        (4096, "4k"),
        (32768, "32k"),
        (131072, "128k"),
        (200_000, "200k"),
        (1 << 20, "1M"),
        (1_000_000, "1M"),
    ],
)
def test_contexts_are_said_as_people_say_them(tokens: int, words: str) -> None:
    assert in_thousands(tokens) == words


def test_names_are_short_and_hide_passwords() -> None:
    assert name_of(ModelRef("file", "/a/b/model.gguf")) == "model.gguf"
    assert "secret" not in name_of(ModelRef("openai", "", "http://me:secret@host/v1"))
    assert why_in_short("its chat template has no tools (supports_tools=false)") == "its chat template has no tools"


@given(
    st.lists(
        st.sampled_from(
            ["a", "\n", "\n\n", "- x\n", "```\n", "| a | b |\n", "|---|---|\n", "# h\n", "> q\n", "    code\n"]
        )
    )
)
def test_no_letter_of_an_answer_is_lost(pieces: list[str]) -> None:
    blocks = MarkdownBlocks()
    done = [block for piece in pieces for block in blocks.feed(piece)]
    said = "".join([*done, blocks.close()])
    assert "".join(said.split()) == "".join("".join(pieces).split())


def test_a_block_is_done_when_the_next_begins() -> None:
    blocks = MarkdownBlocks()
    assert blocks.feed("one\n\n") == []
    assert blocks.feed("two\n") == ["one\n\n"]
    assert blocks.open == "two\n"
    assert blocks.feed("- a\n  - b\n- c") == ["two\n"]
    assert blocks.feed("\n# d\n") == ["- a\n  - b\n", "- c\n"]


def test_code_stays_together_until_it_ends() -> None:
    blocks = MarkdownBlocks()
    assert blocks.feed("```\na\n\nb\n\n# no heading\n") == []
    assert blocks.feed("```\nafter\n") == ["```\na\n\nb\n\n# no heading\n```\n"]
    assert blocks.open == "after\n"


def test_a_block_without_end_is_let_go_in_parts() -> None:
    blocks = MarkdownBlocks()
    done = [block for _ in range(3000) for block in blocks.feed("word word ")]
    assert len(done) > 3
    assert len(blocks.open) <= LARGEST_OPEN
    assert ("".join(done) + blocks.close()).split() == ["word"] * 6000


def test_long_code_is_let_go_in_parts_that_are_code() -> None:
    blocks = MarkdownBlocks()
    done = [block for line in ["~~~\n", *(f"line {n}\n" for n in range(1000))] for block in blocks.feed(line)]
    assert len(done) > 1
    assert all(block.startswith("~~~\n") and block.endswith("\n~~~\n") for block in done)
    lines = [line for block in (*done, blocks.close()) for line in block.split("\n") if line.startswith("line")]
    assert lines == [f"line {n}" for n in range(1000)]


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), min_size=1, max_size=5), st.integers(20, 80))
def test_tables_fit(rows: list[tuple[str, str]], width: int) -> None:
    rows = [("".join(filter(str.isprintable, a)), "".join(filter(str.isprintable, b))) for a, b in rows]
    assert all(width_of(line) <= width for line in in_columns(rows, width))


@given(st.text(), st.integers(1, 50))
def test_what_is_cut_fits(text: str, width: int) -> None:
    assert width_of(cut(text, width)) <= width


def test_the_status_says_what_matters_most_first_and_warns_in_time() -> None:
    status = Status(model="qwen3:8b", mode="native", used=1000, context=4096, speed=41.6)
    assert status_line(status, 100) == "qwen3:8b · native · 1,000 of 4,096 tokens (24%) · 42 tokens/s"
    assert status_line(status, 40) == "qwen3:8b · native · 24% of 4k"
    assert status_line(status, 20) == "qwen3:8b · native"
    full = Status(model="m", mode="off", used=4000, context=4096)
    assert status_line(full, 100) == "m · off · ! 4,000 of 4,096 tokens (98%): nearly full"
    assert status_line(full, 40) == "m · off · ! 98% full"
    busy = Status(model="m", mode="off", used=4000, context=4096, doing="asking what m can do")
    assert status_line(busy, 40) == "m · off · ! 98% full"
    assert status_line(busy, 44) == "m · off · ! 98% full · asking what m can do"
    assert status_line(Status(model="x" * 50), 20) == "x" * 19 + "…"
    assert status_line(Status(model=""), 20) == "starting …"


def test_a_context_that_runs_out_is_told_of_before_it_does() -> None:
    meter = Meter()
    meter.hear(Usage(3000, 100))
    assert meter.used == 3100
    assert meter.warning(4096) is None
    assert "3,600 of 4,096" in (meter.warning(4096, "x" * 1800) or "")
    assert meter.warning(None) is None
    assert "8,333 of 4,096 tokens of context, and nothing is left" in (Meter().warning(4096, "word " * 6000) or "")
    assert Meter().warning(4096, "a short question") is None
    meter.forget([Message(role="user", content="x" * 344)])
    assert meter.used == 100


async def test_the_past_is_kept_for_its_owner_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "home" / "history"
    texts = ["one", "two\nlines", r"a \n that is none", "\\"]
    past = Past()
    past.append_string(texts[0])
    past.open(str(path))
    for text in texts[1:]:
        past.append_string(text)
    assert path.stat().st_mode & 0o77 == 0
    again = Past()
    again.open(str(path))
    assert [text async for text in again.load()] == texts[::-1]


def test_a_past_that_is_too_long_is_cut_to_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b"".join(b"%07d %s\n" % (number, b"x" * 992) for number in range(1200)))
    past = Past()
    past.open(str(path))
    lines = path.read_text().splitlines()
    assert path.stat().st_size <= LARGEST_FILE // 2
    assert lines[-1].startswith("0001199 ")
    assert len(lines) == 499
    assert path.stat().st_mode & 0o77 == 0
    past.append_string("y" * 200_000)
    past.append_string("after")
    assert path.read_text().splitlines()[-1] == "after"
    assert len(path.read_text().splitlines()) == 500


def test_a_model_is_written_down_without_secrets_and_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert as_kept(ModelRef.parse("http://me:hunter2@host:1/v1#one")) == "http://host:1/v1#one"
    assert as_kept(ModelRef.parse("ollama+http://me:hunter2@host:1#one")) == "ollama+http://host:1#one"
    assert as_kept(ModelRef.parse("file:x.gguf")) == f"file:{tmp_path}/x.gguf"
    assert as_kept(ModelRef.parse("http://me:hunter2@host/x.gguf?token=hunter2")) == "file:http://host/x.gguf"
    assert as_kept(ModelRef.parse("foreign://me:hunter2@host/one")) == "foreign://host/one"
    for plain in ("tiny", "ollama:qwen3:8b", "hf:owner/name@main", "http://host:1/v1#one"):
        assert as_kept(ModelRef.parse(plain)) == plain


def test_markdown_makes_no_letters_that_a_terminal_obeys() -> None:
    drawn = Drawing(80, colours=True).markdown("safe &#x202e;evil &#27;[31m **bold**")
    assert "\u202e" not in drawn
    assert "\x1b[31m" not in drawn
    assert "evil" in drawn
    assert "\x1b[1mbold" in drawn


@pytest.mark.parametrize(("said", "has_colours"), [(None, True), ("", True), ("1", False)])
async def test_colours_are_left_out_where_that_is_asked_for(
    said: str | None, has_colours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if said is not None:
        monkeypatch.setenv("NO_COLOR", said)
    with create_app_session(output=DummyOutput()):
        assert Front().has_colours is has_colours
