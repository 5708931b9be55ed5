"""Pictures that tools give: to a model that sees, to one that doesn't, and to one of which nobody knows."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callgate.runtime import Agent, McpServer, Permissions, Session, Toolbox
from callgate.runtime.mcp import StdioSpec
from callgate.vocabulary import BadStatus, ChatRequest, Done, Image, Message, ModelRef, Notice
from tests.runtime.mcp.official_server import picture
from tests.runtime.played import TOOLS, PlayedOllama, model, settings
from tests.wire.server import serving

OFFICIAL = str(Path(__file__).parent / "mcp" / "official_server.py")
PICTURE = base64.b64encode(picture()).decode()
LEFT_OUT = "[An image was here. You can't see images.]"
Body = dict[str, Any]


@pytest.fixture
async def server() -> AsyncIterator[McpServer]:
    made = McpServer(StdioSpec(name="official", command=sys.executable, args=(OFFICIAL, "stdio")))
    yield made
    await made.close()


class Played:
    """A server that calls `picture` and then says what it sees; `refusal` is what it says to a picture."""

    def __init__(self, refusal: tuple[int, str] | None = None) -> None:
        self.asked: list[Body] = []
        self._refusal = refusal

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/v1/models":
            return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})
        if request.path != "/v1/chat/completions":
            return web.json_response({"error": {"message": "not found"}}, status=404)
        body: Body = await request.json()
        self.asked.append(body)
        if self._refusal and "image_url" in json.dumps(body):
            status, message = self._refusal
            return web.json_response({"error": {"message": message}}, status=status)
        function = {"name": "picture", "arguments": "{}"}
        delta: Body = {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}
        if len(body["messages"]) > 1:
            delta = {"content": "a red square"}
        chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())
        return response


class PlayedTalkingOllama(PlayedOllama):
    """One that also chats: it calls `picture`, and then says what it sees."""

    def __init__(self, *capabilities: str) -> None:
        super().__init__(m=model("completion", "tools", *capabilities, template=TOOLS))
        self.bodies: list[Body] = []
        self.refusal = ""

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.path != "/api/chat":
            return await super()._answer(request)
        body: Body = await request.json()
        self.bodies.append(body)
        if self.refusal and PICTURE in json.dumps(body):
            return web.json_response({"error": self.refusal}, status=400)
        message: Body = {"role": "assistant", "content": ""}
        if len(body["messages"]) > 1:
            message["content"] = "a red square"
        else:
            message["tool_calls"] = [{"function": {"name": "picture", "arguments": {}}}]
        return web.json_response({"model": "m", "message": message, "done": True, "done_reason": "stop"})


async def events_of(ref: ModelRef, server: McpServer, url: str = "", times: int = 1) -> list[Any]:
    async with Session(settings(url, tools__strategy="native")) as session:
        agent = Agent(session, Toolbox([server]), permissions=Permissions(allow=["*"]))
        found: list[Any] = []
        for _ in range(times):
            request = ChatRequest(model="", messages=(Message(role="user", content="Show me."),))
            found += [event async for event in agent.answer(ref, request).events()]
        return found


def notices(events: list[Any]) -> list[str]:
    return [event.message for event in events if isinstance(event, Notice) and event.kind == "images_left_out"]


async def test_a_model_that_sees_gets_the_picture(server: McpServer) -> None:
    played = PlayedTalkingOllama("vision")
    async with serving(*played.routes) as url:
        events = await events_of(ModelRef("ollama", "m"), server, url)
    result, shown = played.bodies[1]["messages"][-2:]
    assert (result["role"], result["content"]) == ("tool", "a square")
    assert (shown["role"], shown["images"]) == ("user", [PICTURE])
    assert notices(events) == []
    assert events[-1] == Done("stop")


async def test_a_model_that_does_not_see_gets_a_line_and_the_user_is_told(server: McpServer) -> None:
    played = PlayedTalkingOllama()
    async with serving(*played.routes) as url:
        events = await events_of(ModelRef("ollama", "m"), server, url)
    assert PICTURE not in json.dumps(played.bodies)
    assert played.bodies[1]["messages"][-1]["content"] == f"a square\n{LEFT_OUT}"
    assert notices(events) == ["an image was left out: the model can't see images"]


@pytest.mark.parametrize(
    "refusal",
    [
        (400, "m is not a multimodal model"),
        (400, "At most 0 image(s) may be provided in one request."),
        (400, "Invalid content type. image_url is only supported by certain models."),
        (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
        (422, "messages[3].content: invalid type: sequence, expected a string"),
        (415, "this model does not support vision"),
    ],
)
async def test_where_nobody_knows_a_refusal_is_no_error_and_is_remembered(
    server: McpServer, refusal: tuple[int, str]
) -> None:
    played = Played(refusal)
    async with serving(("*", "/{path:.*}", played.answer)) as url:
        events = await events_of(ModelRef("openai", "m", f"{url}/v1"), server, times=2)
    with_picture = ["image_url" in json.dumps(body) for body in played.asked]
    assert with_picture == [False, True, False, False, False]
    assert notices(events) == ["an image was left out: the model can't see images"] * 2
    assert all(body.get("tools") for body in played.asked)
    assert LEFT_OUT in json.dumps(played.asked[2]["messages"])


async def test_where_nobody_knows_a_server_that_takes_it_gets_it(server: McpServer) -> None:
    played = Played()
    async with serving(("*", "/{path:.*}", played.answer)) as url:
        events = await events_of(ModelRef("openai", "m", f"{url}/v1"), server)
    assert played.asked[1]["messages"][-1]["content"][1]["image_url"]["url"] == f"data:image/png;base64,{PICTURE}"
    assert notices(events) == []


async def test_what_a_server_says_of_something_else_is_an_error_still() -> None:
    played = Played((400, "the temperature is out of range"))
    shown = Message(role="user", content="What is it?", images=(Image(picture(), "image/png"),))
    async with serving(("*", "/{path:.*}", played.answer)) as url, Session(settings()) as session:
        ref = ModelRef("openai", "m", f"{url}/v1")
        with pytest.raises(BadStatus, match="out of range"):
            async for _ in session.turn(ref, ChatRequest(model="m", messages=(shown,))):
                pass
    assert len(played.asked) == 1


async def test_a_model_that_sees_and_refuses_a_picture_is_an_error_too(server: McpServer) -> None:
    played = PlayedTalkingOllama("vision")
    played.refusal = "the image is too large"
    async with serving(*played.routes) as url:
        with pytest.raises(BadStatus, match="too large"):
            await events_of(ModelRef("ollama", "m"), server, url)
