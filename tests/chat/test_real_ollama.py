"""The same over a real Ollama, in a real terminal: it calls, goes on without tools, and calls again."""

from __future__ import annotations

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("there are no such terminals", allow_module_level=True)

from tests.chat.screens import Terminal

pytestmark = [pytest.mark.ollama, pytest.mark.engine]


def test_it_calls_goes_on_without_tools_and_calls_again(ollama_url: str, require_engine: None, tool_file: str) -> None:
    words = ("ollama:tiny", "--tools", tool_file, "--no-own-tools", "--allow", "multiply")
    with Terminal(*words, OLLAMA_HOST=ollama_url) as terminal:
        terminal.wait_for("tiny, as you said · tools native")
        terminal.say("What is 17 times 23?")
        terminal.wait_for("✓ multiply", "→ 391", "The result is 391.")
        terminal.say("/model tiny-plain")
        terminal.wait_for("now tiny-plain · tools off: ")
        terminal.say("What is 6 times 7?")
        terminal.wait_until(lambda text: "tokens/s" in text.rpartition("tiny-plain · off · ")[2])
        terminal.say("/model ollama:tiny")
        terminal.wait_for("now tiny · tools native")
        terminal.say("What is 12 times 12?")
        text = terminal.wait_for("→ 144")
        assert text.count("✓ multiply") == 2
        assert "error" not in text
