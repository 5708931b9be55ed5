"""One question to a model, answered.

What comes on standard input is appended to the question. Tools of Python files and of MCP servers are run until there
is an answer, each after you have allowed it; the calls of tools that are only described are printed, not run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, aclosing, nullcontext
from typing import get_args

from callgate.cli import DONE, FAILED, INTERRUPTED, status_of
from callgate.cli.answer_view import AnswerView, JsonView, TextView
from callgate.cli.inputs import LARGEST_INPUT, option, read_bytes
from callgate.cli.terminal_asker import TerminalAsker
from callgate.cli.tool_arguments import add_tool_arguments, tool_settings
from callgate.gate import Strategy
from callgate.runtime import Agent, Fallback, Limits, Permissions, Recorder, Session, tools_at_hand
from callgate.settings import Settings, load_settings
from callgate.vocabulary import (
    CallgateError,
    ChatRequest,
    Done,
    Event,
    Image,
    Message,
    ModelRef,
    Notice,
    UsageError,
)

EXAMPLES = """\
examples:
  callgate ask tiny "Say hello."                            the model in the box
  callgate ask qwen3:8b --system "Be brief." "Why is the sky blue?"
  callgate ask tiny "What is 17 times 23?" --tools tools.py      the functions of a Python file; you are asked first
  callgate ask tiny "What is 17 times 23?" --tools tools.py --allow multiply
  callgate ask qwen3:8b "What time is it in Tokyo?" --mcp servers.json --allow 'time/*'
  callgate ask qwen3:8b "Hello" --fallback llama3.2,tiny         if the first can't be reached
  callgate ask --json --tools tools.json tiny "What is the weather in Paris?"   events as JSON lines
  git diff | callgate ask qwen3:8b "What changed?"
  callgate ask --option temperature=0 --option seed=1 model.gguf "Hello"

exit status: 0 answered, or there are calls for you to run · 1 it failed, or gave no answer · 2 wrong usage
             3 the model was refused, for it can't call tools · 4 the server could not be reached · 130 interrupted
"""

OWN = "own"
LARGEST_IMAGE = 64 << 20
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model, as `callgate check` takes it")
    parser.add_argument("text", nargs="?", default="", metavar="TEXT", help="the question")
    parser.add_argument("--json", action="store_true", help="print events, one JSON object a line")
    add_tool_arguments(
        parser,
        tools_help="offer these tools (repeatable): the functions of a Python file, which are run; a JSON list in "
        "OpenAI's, MCP's or Ollama's form, whose calls are printed; `own`: a calculator and a clock",
    )
    parser.add_argument("--tool-choice", metavar="CHOICE", help="auto, none, required, or a tool that must be called")
    parser.add_argument(
        "--parallel", action=argparse.BooleanOptionalAction, help="whether it may call several tools at once"
    )
    parser.add_argument("--strategy", choices=get_args(Strategy), help="how tools reach it; auto: as it can")
    parser.add_argument("--system", metavar="TEXT", help="a system message")
    parser.add_argument("--image", action="append", default=[], metavar="FILE", help="a picture (repeatable)")
    parser.add_argument(
        "--option", action="append", default=[], type=option, metavar="K=V", help="such as temperature=0 (repeatable)"
    )
    parser.add_argument("--max-tokens", type=int, metavar="N", help="the longest answer, in tokens")
    parser.add_argument("--think", choices=["on", "off", "low", "medium", "high"], help="whether it thinks first")
    parser.add_argument("--endpoint", metavar="URL", help="the server to ask: an Ollama, or one that ends in /v1")
    parser.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="how long it may be silent (300 before its first word, then 120)",
    )
    parser.add_argument("--record", metavar="FILE", help="keep the exchange, for `scripted:FILE`")
    parser.add_argument("--redact", action="store_true", help="keep arguments and secrets out of the record")


def run(arguments: argparse.Namespace) -> int:
    view: AnswerView = JsonView() if arguments.json else TextView()
    try:
        settings = _settings(arguments)
        ref = _ref(arguments)
        request = _request(arguments, ref)
    except CallgateError as error:
        view.failed(error)
        return status_of(error)
    try:
        return asyncio.run(_ask(ref, request, settings, arguments, view))
    except KeyboardInterrupt:
        return INTERRUPTED


async def _ask(
    ref: ModelRef, request: ChatRequest, settings: Settings, arguments: argparse.Namespace, view: AnswerView
) -> int:
    async with Session(settings, on_loading=view.loading) as session:
        try:
            with _recorder(arguments, ref) as recorder:

                def turn(ref: ModelRef, request: ChatRequest) -> AsyncGenerator[Event, None]:
                    events = session.turn(ref, request)
                    return recorder.record(events, request) if recorder else events

                async with tools_at_hand(
                    settings,
                    files=[path for path in arguments.tools if path != OWN],
                    mcp_files=arguments.mcp,
                    own=OWN in arguments.tools,
                    folder=arguments.files,
                    told=lambda line: _note(view, line),
                ) as toolbox:
                    asker = TerminalAsker.if_there(view.make_room)
                    agent = Agent(
                        session,
                        toolbox,
                        permissions=Permissions.of(
                            settings,
                            allow=arguments.allow,
                            deny=arguments.deny,
                            ask=asker.may_run if asker else None,
                        ),
                        limits=Limits.of(settings),
                        fallback=Fallback.of(
                            settings, arguments.fallback, consent=asker.may_be_asked if asker else None
                        ),
                        turn=turn,
                    )
                    answering = agent.answer(ref, request)
                    async with aclosing(answering.events()) as events:
                        async for event in view.waited_for(events, ref):
                            view.show(event)
        except CallgateError as error:
            view.failed(error)
            return status_of(error)
        except asyncio.CancelledError:
            view.show(Done("cancelled"))
            return INTERRUPTED
    return DONE if answering.ended in ("answered", "calls_left") else FAILED


def _note(view: AnswerView, line: str) -> None:
    view.show(Notice("tools", line))


def _recorder(arguments: argparse.Namespace, ref: ModelRef) -> AbstractContextManager[Recorder | None]:
    if (
        arguments.record
        and ref.scheme == "scripted"
        and os.path.realpath(arguments.record) == os.path.realpath(ref.name)
    ):
        raise UsageError(f"{arguments.record!r} can't be played and recorded at once", hint="record into another file")
    return Recorder(arguments.record, ref=ref, redact=arguments.redact) if arguments.record else nullcontext()


def _settings(arguments: argparse.Namespace) -> Settings:
    overrides = tool_settings(arguments)
    if arguments.timeout is not None:
        overrides |= {"timeouts.first_byte": arguments.timeout, "timeouts.between": arguments.timeout}
    if arguments.strategy is not None:
        overrides |= {"tools.strategy": arguments.strategy, "tools.per_model": None}
    return load_settings(overrides)


def _ref(arguments: argparse.Namespace) -> ModelRef:
    if not arguments.endpoint:
        return ModelRef.parse(arguments.model)
    endpoint = arguments.endpoint if "://" in arguments.endpoint else f"http://{arguments.endpoint}"
    scheme = "" if endpoint.rstrip("/").endswith("/v1") else "ollama+"
    return ModelRef.parse(f"{scheme}{endpoint}#{arguments.model}")


def _request(arguments: argparse.Namespace, ref: ModelRef) -> ChatRequest:
    question = arguments.text
    if sys.stdin and not sys.stdin.isatty():
        given = sys.stdin.buffer.read(LARGEST_INPUT + 1)
        if len(given) > LARGEST_INPUT:
            raise UsageError(f"standard input has more than {LARGEST_INPUT >> 20} MB")
        question = "\n\n".join(filter(None, (question, given.decode("utf-8", "replace").strip())))
    images = tuple(_image(path) for path in arguments.image)
    if not question and not images:
        raise UsageError("there is no question", hint='write it behind the model: callgate ask tiny "Say hello."')
    system = [Message(role="system", content=arguments.system)] if arguments.system else []
    return ChatRequest(
        model=ref.name,
        messages=(*system, Message(role="user", content=question, images=images)),
        tool_choice=arguments.tool_choice,
        parallel_tool_calls=arguments.parallel,
        think={"on": True, "off": False}.get(arguments.think, arguments.think),
        max_tokens=arguments.max_tokens,
        options=dict(arguments.option),
    )


def _image(path: str) -> Image:
    content = read_bytes(path, LARGEST_IMAGE)
    for start, kind in _PICTURES.items():
        if content.startswith(start):
            return Image(content, kind)
    raise UsageError(f"{path!r} is no picture that models know", hint="PNG, JPEG, GIF and WebP are")
