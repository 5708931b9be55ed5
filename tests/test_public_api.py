from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import callgate

ROOMS = [
    "callgate",
    *(
        f"callgate.{room}"
        for room in (
            "backends",
            "detect",
            "gate",
            "hub",
            "registry",
            "runtime",
            "tools",
            "validate",
            "vocabulary",
            "wire",
        )
    ),
]


def test_the_public_api_is_just_this() -> None:
    assert callgate.__all__ == [
        "Answer",
        "AssistantDelta",
        "AsyncDetector",
        "AsyncModel",
        "CallgateError",
        "Capabilities",
        "Detector",
        "Done",
        "Event",
        "Evidence",
        "Image",
        "Limits",
        "Message",
        "Model",
        "ModelRef",
        "Notice",
        "Permissions",
        "Recovered",
        "Repair",
        "Repaired",
        "Run",
        "Settings",
        "Source",
        "ThinkingDelta",
        "Tool",
        "ToolCall",
        "ToolCallEvent",
        "Turn",
        "Usage",
        "check",
        "load_settings",
        "recover",
        "repair",
        "shared_detector",
        "tool_of",
        "validate_model",
        "validate_model_async",
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_offers_all_that_its_door_lists(room: str) -> None:
    module = import_module(room)
    for name in module.__all__:
        assert getattr(module, name) is not None, name
    with pytest.raises(AttributeError):
        module.no_such_thing  # noqa: B018


def test_three_lines_of_python_tell_what_a_model_can_do() -> None:
    capabilities = callgate.check("tiny")
    assert capabilities.tools == "yes"
    assert any(found.claim == "tools" and found.source == "template" for found in capabilities.evidence)


@pytest.mark.parametrize("command", ["--version", "--help", "check --help"])
def test_nothing_heavy_is_imported_for_a_look_at_the_help(command: str) -> None:
    heavy = {"asyncio", "aiohttp", "jinja2", "minijinja", "urllib.request"}
    assert not heavy & imported(command)


def test_a_look_at_a_file_needs_no_event_loop_and_no_http_client() -> None:
    assert not {"asyncio", "aiohttp", "jinja2", "urllib.request"} & imported("check --json tiny")


SCRIPT = """
import sys
from callgate.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print()
print(*sys.modules)
"""


def imported(command: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, *command.split()], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())
