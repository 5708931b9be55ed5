"""The pages that are made out of the code are what the code says, and the help that they quote is right."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from callgate.cli import COMMANDS, parser_of
from callgate.cli.command_tree import Command, command_tree
from callgate.settings import TABLE, unknown_variables
from tests.docs.snippets import pages
from workshop import references, site

ROOT = Path(__file__).parents[2]
TREE = command_tree(parser_of(*COMMANDS))
FILES = (".py", ".json", ".jsonl", ".toml", ".md")
EXAMPLE = re.compile(r"^  (?:.*?\| *|\w+=\S+ )*(callgate .*)$", re.MULTILINE)


def examples() -> list[str]:
    found = [line for command in TREE.below for line in EXAMPLE.findall(command.closing)]
    return [re.split(r" {2,}(?=\S)| \| | > | < | …$", line)[0] for line in found]


@pytest.mark.parametrize("name", references.pages())
def test_each_reference_is_what_the_code_says(name: str) -> None:
    page = ROOT / "docs" / name
    assert page.read_text("utf-8") == references.pages()[name], "run ./dev docs, which writes it anew"


def test_the_reference_of_settings_has_each_with_its_variables() -> None:
    page = references.settings_page()
    for setting in TABLE.values():
        assert f"`{setting.key}`" in page
        assert all(f"`{variable}`" in page for variable in setting.env)


def test_the_reference_names_only_settings_and_options_that_there_are() -> None:
    flags = {flag for command in TREE.all() for option in command.options for flag in option.flags}
    assert set(references._FLAGS) | set(references._WITHOUT) <= set(TABLE)
    assert set(re.findall(r"--[a-z-]+", " ".join(references._FLAGS.values()))) <= flags


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_only_settings_that_there_are(page: Path) -> None:
    sections = "|".join({setting.section for setting in TABLE.values()})
    named = set(re.findall(rf"`((?:{sections})\.[a-z_]+)`", page.read_text("utf-8")))
    assert {name for name in named if not name.endswith(FILES)} <= set(TABLE)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_only_variables_that_there_are(page: Path) -> None:
    named = set(re.findall(r"\bCALLGATE_[A-Z_]*[A-Z]\b", page.read_text("utf-8")))
    assert not unknown_variables(dict.fromkeys(named, "x"))


@pytest.mark.parametrize("command", TREE.below, ids=lambda command: command.words[0])
def test_each_command_says_what_it_is_for_with_examples_and_its_exit_status(command: Command) -> None:
    assert command.summary
    assert command.about.partition("\n")[0].endswith((".", "?"))
    assert "examples:" in command.closing
    assert "exit status" in command.closing
    for each in command.all():
        untold = [argument.flags or argument.metavar for argument in each.arguments if not argument.help]
        assert not untold, f"callgate {' '.join(each.words)} doesn't say what {untold} is"


@pytest.mark.parametrize("line", examples())
def test_each_example_is_one_that_the_command_line_takes(line: str) -> None:
    words = shlex.split(line, comments=False)[1:]
    arguments, rest = parser_of(*COMMANDS).parse_known_args(words)
    assert len(rest) <= (getattr(arguments, "text", None) == ""), rest


def test_the_site_has_every_page_and_no_other() -> None:
    named = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    there = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(named) == sorted(there)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_beside_the_site_lead_somewhere(name: str) -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", (ROOT / name).read_text("utf-8"))
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_what_a_page_would_fetch_from_others_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<link rel="stylesheet" href="https://fonts.example/a.css"><script src=//cdn.example/b.js></script>'
        '<link rel="canonical" href="https://me.example/"><a href="https://other.example">x</a><img src="c.png">'
    )
    assert [found.rpartition(" ")[2] for found in site.fetched_from_others(tmp_path)] == [
        "https://fonts.example/a.css",
        "//cdn.example/b.js",
    ]
