"""What OpenAI's oldest clients expect: `functions` instead of tools, and one `function_call` in an answer."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from callgate.gateway.dialect import Explanation
from callgate.gateway.writing.completions import ChatWriter
from callgate.runtime import Said
from callgate.vocabulary import Event, ToolCall


class FunctionWriter(ChatWriter):
    """Calls beyond the first have no place in such an answer."""

    def call_piece(self, call: ToolCall) -> bytes:
        if self._calls:
            return b""
        arguments = call.arguments if isinstance(call.arguments, str) else msgspec.json.encode(call.arguments).decode()
        return b'"function_call":' + msgspec.json.encode({"name": call.name, "arguments": arguments})

    def note(self, event: Event) -> None:
        super().note(event)
        if self._reason == "tool_calls":
            self._reason = "function_call"

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        answer = cast("dict[str, Any]", super().whole(said, explanation))
        message = answer["choices"][0]["message"]
        if calls := message.pop("tool_calls", None):
            message["function_call"] = calls[0]["function"]
        return answer
