"""What the model would really get: how its tools reach it and why, the request as it is sent, and the prompt.

Nothing is generated. The model isn't loaded either, unless --engine says so: the prompt is rendered by a server that
has it loaded, or else here, by the model's own chat template.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import get_args

from callgate.cli import DONE, status_of
from callgate.cli.inputs import read_json
from callgate.cli.logs import log_mode
from callgate.cli.render_view import show_turn
from callgate.cli.screen import Screen, print_json
from callgate.gate import Strategy
from callgate.runtime import Session, Shown, read_messages, show
from callgate.settings import Settings, load_settings
from callgate.tools import read_tools
from callgate.vocabulary import ChatRequest, Message, ModelRef, UsageError

EXAMPLES = """\
examples:
  callgate render tiny --tools tools.json "What is 17 times 23?"
  callgate render qwen3:8b --messages talk.json --tools tools.json     a whole conversation
  callgate render --json tiny --messages - <talk.json | jq -r .prompt  the prompt alone
  callgate render --strategy emulate tiny --tools tools.json "Hello"   another way to the same model
  callgate render --engine model.gguf --tools tools.json "Hello"       load it, and ask its engine

exit status: 0 done · 1 the template or the server refuses this conversation · 2 wrong usage
             3 the model was refused, for it can't call tools · 4 the server could not be reached
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model, as `callgate check` takes it")
    parser.add_argument("text", nargs="?", default="", metavar="TEXT", help="a question, behind the messages")
    parser.add_argument("--messages", metavar="FILE", help="a conversation: a JSON list in OpenAI's or Ollama's form")
    parser.add_argument("--tools", metavar="FILE", help="tools: a JSON list in OpenAI's, MCP's or Ollama's form")
    parser.add_argument("--system", metavar="TEXT", help="a system message, before the others")
    parser.add_argument("--tool-choice", metavar="CHOICE", help="auto, none, required, or a tool that must be called")
    parser.add_argument("--strategy", choices=get_args(Strategy), help="how tools are to reach it, whatever is set")
    parser.add_argument("--think", choices=["on", "off", "low", "medium", "high"], help="whether it thinks first")
    parser.add_argument("--engine", action="store_true", help="load the model if need be, and ask whoever runs it")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: argparse.Namespace) -> int:
    ref = ModelRef.parse(arguments.model)
    request = _request(arguments)
    shown = asyncio.run(_shown(ref, request, _settings(arguments), may_load=arguments.engine))
    if request.tools:
        log_mode(shown.name, shown.mode, shown.reason)
    if arguments.json:
        print_json(shown.as_json())
    else:
        show_turn(Screen(), shown)
    return status_of(shown.problem) if shown.problem else DONE


async def _shown(ref: ModelRef, request: ChatRequest, settings: Settings, *, may_load: bool) -> Shown:
    async with Session(settings) as session:
        return await show(session, ref, request, may_load=may_load)


def _settings(arguments: argparse.Namespace) -> Settings:
    if arguments.strategy is None:
        return load_settings()
    return load_settings({"tools.strategy": arguments.strategy, "tools.per_model": None})


def _request(arguments: argparse.Namespace) -> ChatRequest:
    if arguments.messages == arguments.tools == "-":
        raise UsageError("standard input can't be both the messages and the tools")
    said = read_messages(read_json(arguments.messages)) if arguments.messages else ()
    system = (Message(role="system", content=arguments.system),) if arguments.system else ()
    asked = (Message(role="user", content=arguments.text),) if arguments.text else ()
    if not (said or asked):
        raise UsageError(
            "there is no conversation", hint='callgate render tiny "Say hello.", or --messages with a file'
        )
    return ChatRequest(
        model="",
        messages=(*system, *said, *asked),
        tools=read_tools(read_json(arguments.tools)) if arguments.tools else (),
        tool_choice=arguments.tool_choice,
        think={"on": True, "off": False}.get(arguments.think, arguments.think),
    )
