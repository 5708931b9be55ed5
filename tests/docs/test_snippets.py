"""What README.md and docs/ show is run."""

from __future__ import annotations

import json
import shutil
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from callgate.settings import load_settings
from tests.conftest import missing
from tests.docs.program import program
from tests.docs.snippets import (
    ONLY_SHOWN,
    ROOT,
    RUN,
    SHELLS,
    Snippet,
    commands,
    is_like,
    outside_of_fences,
    pages,
    snippets,
)
from tests.docs.stage import Others, Stage, others

PAGES = {page.relative_to(ROOT).as_posix(): list(snippets(page)) for page in pages()}

BEFORE = {"zsh": "autoload -Uz compinit; compinit -D -u\n"}
"""What the reader's files have done before."""


@pytest.fixture(scope="module")
def of_readers() -> Iterator[Others]:
    with others() as found:
        yield found


@pytest.fixture
def stage(tmp_path: Path, of_readers: Others, require_engine: None) -> Iterator[Stage]:
    stage = Stage(tmp_path, of_readers)
    try:
        yield stage
    finally:
        stage.leave()


@pytest.mark.engine
@pytest.mark.timeout(240)
@pytest.mark.parametrize("page", [page for page, found in PAGES.items() if any(each.language in RUN for each in found)])
def test_what_a_page_shows_is_true(page: str, stage: Stage, tally: tuple[Counter[str], list[tuple[str, str]]]) -> None:
    if any("redis-server " in each.text for each in PAGES[page]) and shutil.which("redis-server") is None:
        missing("no Redis: redis-server is not installed (apt-get install redis-server)")
    run, not_run = tally
    problems: list[str] = []
    of_python: list[Snippet] = []
    for snippet in PAGES[page]:
        if snippet.not_run:
            not_run.append((snippet.where, snippet.not_run))
        elif snippet.language in SHELLS and not shutil.which(SHELLS[snippet.language].split()[0]):
            not_run.append((snippet.where, f"there is no {snippet.language} here"))
        elif snippet.language in RUN:
            run[snippet.language] += 1
            if snippet.title:
                stage.write(snippet.title, snippet.text)
            if snippet.language == "python" and not snippet.title:
                of_python.append(snippet)
            else:
                problems += _problems(snippet, stage)
    if of_python:
        problems += _of_python(of_python, stage)
    assert not problems, "\n\n".join(problems)


def _problems(snippet: Snippet, stage: Stage) -> Iterator[str]:
    text = stage.here(snippet.text)
    try:
        match snippet.language:
            case "console":
                yield from _of_console(snippet, stage)
            case "sh" | "zsh" | "fish":
                status, said = stage.script(BEFORE.get(snippet.language, "") + text, *SHELLS[snippet.language].split())
                if status:
                    yield f"{snippet.where}: exit status {status}:\n{said}"
            case "python":
                compile(snippet.text, snippet.where, "exec")
            case "toml":
                _read_toml(snippet, stage)
            case "json":
                json.loads(snippet.text)
            case "jsonl":
                for line in snippet.text.splitlines():
                    json.loads(line)
    except Exception as error:  # noqa: BLE001
        yield f"{snippet.where}: {type(error).__name__}: {error}"


def _of_console(snippet: Snippet, stage: Stage) -> Iterator[str]:
    for shown in commands(snippet):
        begun = time.monotonic()
        status, said = stage.run(shown)
        took = time.monotonic() - begun
        where = f"{snippet.page}:{shown.line}: $ {shown.command}"
        if status:
            yield f"{where}\nexit status {status} after {took:.0f} s:\n{said}"
        expected = "\n".join(line.rstrip() for line in shown.output)
        real = "\n".join(line.rstrip() for line in said.rstrip().splitlines())
        if expected and not is_like(stage.here(expected), real):
            yield f"{where}\nshown:\n{expected}\nreally:\n{real}"


def _read_toml(snippet: Snippet, stage: Stage) -> None:
    tomllib.loads(snippet.text)
    if not snippet.title:
        path = stage.folder / "settings.toml"
        path.write_text(snippet.text)
        load_settings(environ={"CALLGATE_CONFIG": str(path)})


def _of_python(found: list[Snippet], stage: Stage) -> Iterator[str]:
    status, said = stage.python(program(found))
    if "ModuleNotFoundError" in said:
        missing(f"{found[0].page}: {said.strip().splitlines()[-1]}")
    if status:
        yield f"{found[0].page}: exit status {status}:\n{said}"


def test_each_block_says_what_it_is() -> None:
    unknown = [each.where for found in PAGES.values() for each in found if each.language not in (*RUN, *ONLY_SHOWN)]
    assert not unknown, f"blocks of a language that is neither run nor only shown: {', '.join(unknown)}"


@pytest.mark.parametrize("page", pages(), ids=list(PAGES))
def test_no_command_stands_where_nobody_would_run_it(page: Path) -> None:
    assert not list(outside_of_fences(page))


def test_what_is_shown_is_compared_whole() -> None:
    assert is_like("a … c", "a b c")
    assert is_like("first\n…\nlast", "first\nmany\nmore\nlast")
    assert is_like("first\n…\nlast", "first\nlast")
    assert not is_like("a", "a b")
    assert not is_like("…b", "a b c")
