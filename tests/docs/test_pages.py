"""The pages that tell how callgate works leave nothing out that the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from callgate import cli
from callgate.backends import means_of
from callgate.backends.ollama import versions
from callgate.detect import llama_server
from callgate.detect.template.conversations import COMMON_WAYS, OTHER_WAYS
from callgate.settings import TABLE
from callgate.vocabulary import CallgateError, Facts, ServerKind, Source, errors

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CODE = ROOT / "src" / "callgate"
OURS = ("detection", "formats", "wire-formats", "architecture", "comparison", "troubleshooting")
ERRORS = [name for name, found in vars(errors).items() if isinstance(found, type) and issubclass(found, CallgateError)]
EXITS = {name: getattr(cli, name) for name in ("DONE", "FAILED", "USAGE", "UNMET", "UNREACHABLE", "INTERRUPTED")}
KINDS_ON_WIRE_PAGE = {
    ServerKind.OLLAMA: "Ollama",
    ServerKind.LLAMA_SERVER: "llama-server",
    ServerKind.LM_STUDIO: "LM Studio",
    ServerKind.VLLM: "vLLM",
    ServerKind.SGLANG: "SGLang",
    ServerKind.OPENAI: "unknown",
}
"""Another kind is called there as the code calls it."""


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text("utf-8")


def sources(room: str = "") -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted((CODE / room).rglob("*.py")))


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_is_in_troubleshooting(error: str) -> None:
    assert f"`{error}`" in page("troubleshooting")


@pytest.mark.parametrize(("name", "status"), EXITS.items())
def test_every_exit_status_is_in_troubleshooting(name: str, status: int) -> None:
    assert f"\n| `{status}` |" in page("troubleshooting"), name


def test_every_failure_of_the_server_is_in_troubleshooting() -> None:
    kinds = set(re.findall(r'\bkind="([a-z_]+)"', sources("gateway")))
    assert len(kinds) > 10
    assert sorted(kind for kind in kinds if f"`{kind}`" not in page("troubleshooting")) == []


def test_every_status_of_the_server_is_in_troubleshooting() -> None:
    statuses = set(re.findall(r"\bFailure\(\s*status=(\d{3})\b", sources("gateway")))
    assert len(statuses) > 8
    shown = set(re.findall(r"^\| (\d{3}) \|", page("troubleshooting"), re.MULTILINE))
    assert sorted(statuses - shown) == []


def test_every_notice_is_in_troubleshooting() -> None:
    kinds = set(re.findall(r'\bNotice\(\s*"([a-z_]+)"', sources()))
    assert len(kinds) > 15
    assert sorted(kind for kind in kinds if f"`{kind}`" not in page("troubleshooting")) == []


def test_every_source_of_evidence_is_told_in_its_order() -> None:
    listed = re.findall(r"^\| `([a-z_]+)` \|", page("detection").split("## The template probe")[0], re.MULTILINE)
    assert listed == [source.value for source in Source]


def test_the_number_of_ways_to_write_a_call_is_right() -> None:
    assert f" {len(COMMON_WAYS) + len(OTHER_WAYS)} ways to write a call down" in page("detection")


@pytest.mark.parametrize("kind", ServerKind)
def test_what_servers_honour_is_what_the_wire_page_says(kind: ServerKind) -> None:
    name = KINDS_ON_WIRE_PAGE.get(kind, kind.value)
    row = re.search(
        rf"^\| {re.escape(name)} \|[^|]*\|(.*)\|$", page("wire-formats").split("## Other OpenAI")[1], re.MULTILINE
    )
    assert row
    shown = [cell.strip().startswith("yes") for cell in row[1].split("|")]
    means = means_of(Facts(name="m", server=kind, at=0.0))
    assert shown == [means.schema, means.tool_choice, means.parallel_tool_calls, means.grammar]


def test_the_versions_on_the_wire_page_are_those_that_the_code_goes_by() -> None:
    row = next(line for line in page("wire-formats").splitlines() if line.startswith("| Ollama, `/api/chat` |"))
    for needed in (versions.TOOLS, versions.STREAMED_TOOLS, versions.CALL_IDS, versions.JINJA_TEMPLATES):
        assert re.search(rf"\b{re.escape(versions.shown(needed))}\b", row), needed
    assert f"build b{llama_server._FIRST_WITH_JINJA_ON} on" in page("wire-formats")


def test_every_room_is_on_the_architecture_page() -> None:
    rooms = [each.parent.name for each in CODE.glob("*/__init__.py")]
    assert len(rooms) > 10
    picture = (DOCS / "pictures" / "rooms.svg").read_text("utf-8")
    assert sorted(room for room in rooms if f"`{room}" not in page("architecture") or f">{room}<" not in picture) == []


@pytest.mark.parametrize("name", OURS)
def test_settings_that_a_page_names_exist(name: str) -> None:
    sections = {key.partition(".")[0] for key in TABLE}
    named = set(re.findall(r"`([a-z_]+\.[a-z_]+)(?: = [^`]+)?`", page(name)))
    assert sorted(key for key in named if key.partition(".")[0] in sections and key not in TABLE) == []


@pytest.mark.parametrize("name", OURS)
def test_links_and_pictures_of_a_page_are_there(name: str) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page(name)):
        assert (DOCS / target).exists(), target
