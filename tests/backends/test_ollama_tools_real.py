"""What a real Ollama makes of the tools that we write for it."""

from typing import Any

import pytest

from callgate.tools import write_tools
from callgate.vocabulary import Tool
from callgate.wire import HttpClient

pytestmark = [pytest.mark.ollama, pytest.mark.engine]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "days": {"type": "integer", "minimum": 1, "maximum": 14, "description": "How many."},
        "place": {"$ref": "#/$defs/Place"},
        "unit": {"oneOf": [{"const": "metric"}, {"type": "null"}]},
        "near": {"type": ["string", "null"]},
        "anything": True,
    },
    "required": ["days"],
    "$defs": {"Place": {"type": "object", "properties": {"inside": {"$ref": "#/$defs/Place"}}}},
}


async def test_all_that_we_write_reaches_the_prompt(ollama_url: str, http: HttpClient, require_engine: None) -> None:
    body = {
        "model": "tiny",
        "messages": [{"role": "user", "content": "hello"}],
        "tools": write_tools([Tool("forecast", "Tells the weather.", SCHEMA)], "ollama"),
        "stream": False,
        "_debug_render_only": True,
    }
    answer: Any = await http.post_json(f"{ollama_url}/api/chat", body)
    prompt = answer["_debug_info"]["rendered_template"]
    for part in ("How many. (1 to 14)", '"inside": {"type": "object"', '"enum": ["metric"]', '"anything": {}'):
        assert part in prompt
