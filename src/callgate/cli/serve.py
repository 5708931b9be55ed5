"""One endpoint in front of every model in reach, for programs that speak OpenAI's, Anthropic's or Ollama's dialect.

Tools go to each model in the way that suits it, calls that come as text are recovered,
names and arguments are mended. Every answer says in X-Callgate-Mode what was done.

It listens on this machine only, unless you give it a key.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from callgate.cli import DONE
from callgate.cli.screen import Screen, print_json, printable
from callgate.gateway import PORT, Options, Otel, ServeLimits
from callgate.settings import Settings, load_settings
from callgate.vocabulary import CallgateError, UsageError
from callgate.wire import normalise_base_url

if TYPE_CHECKING:
    import asyncio

EXAMPLES = """\
examples:
  callgate serve                                    http://127.0.0.1:11435, every model in reach
  callgate serve --model qwen3:8b --alias gpt-4o-mini=qwen3:8b
  callgate serve --upstream http://lab:8000/v1      the models of a vLLM, llama-server, LM Studio or Ollama, too
  callgate serve --upstream http://a:8000/v1 --upstream http://b:8000/v1
                                                    a model that both have is asked where there is less to do
  callgate serve --alias fast=http://a:8000/v1#m,http://b:8000/v1#n
  callgate serve --upstream http://a:8000/v1 --workers 4 --access-log requests.jsonl
  callgate serve --otel http://localhost:4318       traces and metrics for OpenTelemetry, without what is said
  callgate serve --redis redis://cache:6379/0       one of several that share what must be shared
  callgate serve --require-tools                    no models that can't call tools
  callgate serve --tool-limit 20                    of an agent's hundred tools, those that the question needs
  callgate serve --strategy emulate --explain       answers tell what was done, under "callgate"
  callgate serve --host 0.0.0.0 --api-key KEY --allowed-host models.example.org
  callgate serve --port 0 --json                    a free port; the first line is {"url": "http://127.0.0.1:…"}

  OPENAI_BASE_URL=http://127.0.0.1:11435/v1 your-program
  ANTHROPIC_BASE_URL=http://127.0.0.1:11435 ANTHROPIC_MODEL=qwen3:8b claude
  OLLAMA_HOST=127.0.0.1:11435 ollama run qwen3:8b

exit status: 0 it was told to stop · 1 it failed · 2 wrong usage
"""

STRATEGIES = ("auto", "native", "emulate", "off")
UPSTREAM_SECONDS = 2.0
"""For a server elsewhere to say which models it has; `discovery.timeout` says it for all."""
MOST_WORKERS = 64
DEEPEST = 200
"""What is nested much deeper is more than Python takes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    limits = ServeLimits()
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (127.0.0.1)")
    parser.add_argument("--port", type=_port, default=PORT, metavar="N", help=f"its port ({PORT}); 0: any that is free")
    parser.add_argument("--json", action="store_true", help='say {"url": …} when it is ready')
    models = parser.add_argument_group("models")
    models.add_argument("--model", metavar="MODEL", help="the model for requests that name none")
    models.add_argument(
        "--alias",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=MODEL",
        help="another name for a model, or for what another alias stands for; for several, with commas, which are asked"
        " in turn (repeatable)",
    )
    models.add_argument(
        "--upstream",
        action="append",
        default=[],
        metavar="URL",
        help="also serve the models of this server (repeatable); of several with one model, the least busy is asked",
    )
    models.add_argument("--fallback", metavar="MODELS", help="models that answer if one fails, with commas")
    models.add_argument("--require-tools", action="store_true", help="only models that can call tools")
    models.add_argument("--strategy", choices=STRATEGIES, help="how tools reach models; auto: as each of them can")
    models.add_argument(
        "--model-strategy",
        action="append",
        default=[],
        type=_pair,
        metavar="MODEL=STRATEGY",
        help="the strategy for one model, by whatever name it is asked for, or for those of an alias (repeatable)",
    )
    models.add_argument(
        "--tool-limit",
        type=_count,
        metavar="N",
        help="offer models no more tools than this: those that have most to do with what the user said last, and those"
        " that were called before; notices, X-Callgate-Tools-Trimmed and metrics tell of each cut",
    )
    models.add_argument(
        "--model-tool-limit",
        action="append",
        default=[],
        type=_pair,
        metavar="MODEL=N",
        help="the limit for one model, by whatever name it is asked for, or for those of an alias (repeatable);"
        " 0: all tools",
    )
    models.add_argument("--explain", action="store_true", help='say under "callgate" what was done to an answer')
    running = parser.add_argument_group("running")
    running.add_argument(
        "--workers",
        type=_workers,
        default=1,
        metavar="N",
        help="processes that answer (1); each loads GGUF files for itself, so this is for models of other servers",
    )
    running.add_argument(
        "--check-every",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="look whether all known servers live, also when nobody asks (0: never; those that failed are looked at"
        " anyway)",
    )
    running.add_argument(
        "--otel",
        nargs="?",
        const="",
        metavar="URL",
        help="send traces and metrics to an OpenTelemetry collector, by OTLP over HTTP: there, or where"
        " OTEL_EXPORTER_OTLP_ENDPOINT says, or to this machine's port 4318",
    )
    running.add_argument(
        "--otel-content", action="store_true", help="send also what is said, and tools' arguments and results"
    )
    running.add_argument(
        "--redis",
        metavar="URL",
        help="share keys, the health of servers, verdicts and responses (for previous_response_id) with other callgates"
        " that name the same Redis (or CALLGATE_REDIS, which nobody sees in a list of processes)",
    )
    running.add_argument(
        "--ping-every",
        type=_seconds,
        default=15.0,
        metavar="SECONDS",
        help="a sign of life for clients that wait for a stream (15; 0: never); errors that come later are told in it",
    )
    running.add_argument("--access-log", metavar="FILE", help="gets a line of JSON for each request, without bodies")
    doors = parser.add_argument_group("who may ask")
    doors.add_argument(
        "--api-key", action="append", default=[], metavar="KEY", help="clients must send this key (repeatable)"
    )
    doors.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a host name that clients may use (repeatable)",
    )
    doors.add_argument(
        "--cors",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="web pages of this origin may ask; *: any (repeatable)",
    )
    bounds = parser.add_argument_group("limits")
    bounds.add_argument(
        "--drain",
        type=_seconds,
        default=30.0,
        metavar="SECONDS",
        help="when stopped, wait so long for running answers (30)",
    )
    bounds.add_argument(
        "--max-body", type=_count, default=limits.body_bytes >> 20, metavar="MB", help="the largest request body (64)"
    )
    bounds.add_argument(
        "--max-body-seconds",
        type=_seconds,
        default=limits.body_seconds,
        metavar="N",
        help="how long a request body may take to arrive, in seconds (60; 0: no limit)",
    )
    bounds.add_argument(
        "--max-nesting",
        type=_nesting,
        default=limits.nesting,
        metavar="N",
        help="how deep lists and objects in a request may nest (64)",
    )
    bounds.add_argument(
        "--max-tools", type=_count, default=limits.tools, metavar="N", help="the most tools in one request (1000)"
    )
    bounds.add_argument(
        "--max-seconds",
        type=_seconds,
        default=limits.seconds,
        metavar="N",
        help="how long one answer may take (3600; 0: no limit)",
    )
    bounds.add_argument(
        "--max-concurrent",
        type=_count,
        default=limits.at_once,
        metavar="N",
        help="the most answers at the same time (1000)",
    )


def run(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    options = _options(arguments, settings)
    from importlib.util import find_spec

    if find_spec("uvicorn") is None:
        raise UsageError("the server needs uvicorn", hint="pip install 'callgate[serve]'")
    from callgate.gateway import serve

    warnings: list[asyncio.Task[None]] = []

    def ready(url: str) -> None:
        import asyncio

        _say_ready(url, as_json=arguments.json)
        warnings.append(asyncio.get_running_loop().create_task(_warn(settings, options)))

    serve(settings, options, on_ready=ready)
    return DONE


def _settings(arguments: argparse.Namespace) -> Settings:
    """Raises: UsageError, if something is no good."""
    settings = load_settings()
    overrides: dict[str, object] = {}
    if arguments.require_tools:
        overrides["models.require_tools"] = True
    if arguments.redis:
        overrides["serve.redis"] = arguments.redis
    if arguments.strategy:
        overrides["tools.strategy"] = arguments.strategy
    if arguments.model_strategy:
        said = _per_model(arguments, arguments.model_strategy)
        overrides["tools.per_model"] = ",".join(filter(None, (settings.tools.per_model, *said)))
    if arguments.tool_limit is not None:
        overrides["tools.limit"] = arguments.tool_limit
    if arguments.model_tool_limit:
        said = _per_model(arguments, arguments.model_tool_limit)
        overrides["tools.limit_per_model"] = ",".join(filter(None, (settings.tools.limit_per_model, *said)))
    if arguments.upstream:
        for url in arguments.upstream:
            if "," in url:
                raise UsageError(f"{url!r} is more than one server", hint="write --upstream before each")
            normalise_base_url(url)
        named = [f"upstream {number}={url}" for number, url in enumerate(arguments.upstream, start=1)]
        overrides["discovery.endpoints"] = ",".join(filter(None, (settings.discovery.endpoints, *named)))
        if settings.origin("discovery.timeout") == "default":
            overrides["discovery.timeout"] = UPSTREAM_SECONDS
    return load_settings(overrides) if overrides else settings


def _options(arguments: argparse.Namespace, settings: Settings) -> Options:
    kept = settings.serve.api_keys
    keys = [*arguments.api_key, *(kept.reveal().split(",") if kept else ())]
    return Options(
        host=arguments.host,
        port=arguments.port,
        keys=tuple(key.strip() for key in keys if key.strip()),
        allowed_hosts=tuple(arguments.allowed_host),
        origins=tuple(arguments.cors),
        explain=arguments.explain,
        model=arguments.model,
        aliases=_aliases(arguments),
        fallback=arguments.fallback,
        drain=arguments.drain,
        limits=ServeLimits(
            body_bytes=arguments.max_body << 20,
            body_seconds=arguments.max_body_seconds,
            nesting=arguments.max_nesting,
            tools=arguments.max_tools,
            seconds=arguments.max_seconds,
            at_once=arguments.max_concurrent,
        ),
        workers=arguments.workers,
        check_every=arguments.check_every,
        ping_every=arguments.ping_every,
        redis=settings.serve.redis,
        otel=_otel(arguments),
        access_log=os.path.abspath(arguments.access_log) if arguments.access_log else None,
    )


def _per_model(arguments: argparse.Namespace, said: Iterable[tuple[str, str]]) -> list[str]:
    """What is said of an alias is said of all its models."""
    from callgate.gateway import OwnersNames

    names = OwnersNames(aliases=_aliases(arguments))
    return [f"{model}={value}" for name, value in said for model in names.models(name)]


def _otel(arguments: argparse.Namespace) -> Otel | None:
    if arguments.otel is not None:
        return Otel(url=arguments.otel.strip(), content=arguments.otel_content)
    if arguments.otel_content:
        raise UsageError("--otel-content needs --otel", hint="callgate serve --otel http://HOST:4318 --otel-content")
    return None


def _aliases(arguments: argparse.Namespace) -> dict[str, str]:
    """One that is named again has more models."""
    aliases: dict[str, str] = {}
    for name, models in arguments.alias:
        aliases[name] = f"{aliases[name]},{models}" if name in aliases else models
    return aliases


def _say_ready(url: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"url": url})
        return
    screen = Screen(sys.stderr)
    screen.line(printable(f"callgate answers at {url} (OpenAI: {url}/v1; Ollama and browsers: {url}); Ctrl-C ends it"))


async def _warn(settings: Settings, options: Options) -> None:
    """Aside, so that nobody waits for it."""
    from callgate.gateway import names_nobody_has

    screen = Screen(sys.stderr)
    try:
        lost = await names_nobody_has(settings, options)
    except CallgateError as error:
        lost = [error.message]
    for told in lost:
        screen.line(screen.styled("note: ", "doubt") + printable(told))


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1,000,000")
    return int(text)


def _workers(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MOST_WORKERS}")
    return int(text)


def _nesting(text: str) -> int:
    if not text.isdecimal() or not 8 <= int(text) <= DEEPEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 8 to {DEEPEST}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 10**7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
