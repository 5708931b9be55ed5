"""`callgate models set`, `forget` and `show`: what you say of a model, and what is kept of it."""

from __future__ import annotations

import argparse
import io
from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal

from callgate.cli import DONE, FAILED, UNREACHABLE
from callgate.cli.check_view import show_evidence
from callgate.cli.screen import Screen, print_json, printable
from callgate.runtime import ModelKnowledge, ModelReport, as_json_text, check_targets, one_model
from callgate.settings import Settings, load_settings, without_password
from callgate.vocabulary import ModelRef, NotFound, Unreachable, UsageError
from callgate.wire import shown_ref

if TYPE_CHECKING:
    from callgate.registry import ModelRecord

_TOOLS: dict[str, bool | Literal["auto"]] = {"yes": True, "no": False, "auto": "auto"}
_FOUND_OUT = "nothing is said of it any more: all is found out"
MOST_TOKENS = 1 << 40


def add_actions(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[argparse.ArgumentParser]:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    said = add_action(actions, "set", "say what a model can do; what you say outweighs all that is found")
    said.add_argument(
        "--tools",
        dest="said_tools",
        choices=_TOOLS,
        metavar="yes|no|auto",
        help="whether it calls tools (auto: find out)",
    )
    said.add_argument(
        "--context", dest="said_context", type=_context, metavar="N", help="tokens of its context; auto: find out"
    )
    add_action(actions, "forget", "forget what you said of a model, and what was observed of it")
    add_action(actions, "show", "what is kept of a model and where, and all the evidence on it")
    return actions


def add_action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    summary: str,
    *,
    model: str = "as `callgate check` takes it: qwen3:8b, file:PATH …",
) -> argparse.ArgumentParser:
    """One that is about a model."""
    action = actions.add_parser(name, help=summary, description=summary)
    action.add_argument("model", metavar="MODEL", help=model)
    action.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="one JSON object")
    return action


def _context(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    digits = text.replace("_", "").replace(",", "")
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits) <= MOST_TOKENS):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of tokens, and not auto")
    return int(digits)


def run_action(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    ref = one_model(arguments.model)
    knowledge = ModelKnowledge(settings)
    match arguments.action:
        case "set":
            return _set(ref, knowledge, arguments)
        case "forget":
            return _forget(ref, knowledge, arguments)
        case _:
            return _show(ref, knowledge, settings, arguments)


def _set(ref: ModelRef, knowledge: ModelKnowledge, arguments: argparse.Namespace) -> int:
    if arguments.said_tools is None and arguments.said_context is None:
        raise UsageError("nothing is said of the model", hint="--tools yes|no|auto, --context N, or both")
    tools = None if arguments.said_tools is None else _TOOLS[arguments.said_tools]
    record = knowledge.say(ref, tools=tools, context=arguments.said_context)
    if arguments.json:
        print_json(_kept(ref, record, knowledge))
        return DONE
    print(printable(f"{without_password(arguments.model)}: {_in_words(record)}"))
    print(printable(f"kept in {knowledge.registry.path}"))
    return DONE


def _forget(ref: ModelRef, knowledge: ModelKnowledge, arguments: argparse.Namespace) -> int:
    named = without_password(arguments.model)
    record = knowledge.registry.forget(ref)
    if record is None:
        raise NotFound(f"nothing is kept of {named!r}", hint="`callgate models show MODEL` shows what is")
    if arguments.json:
        print_json(_kept(ref, record, knowledge))
    else:
        print(printable(f"{named}: forgotten; it was {_in_words(record)}"))
    return DONE


def _show(ref: ModelRef, knowledge: ModelKnowledge, settings: Settings, arguments: argparse.Namespace) -> int:
    record = knowledge.registry.get(ref)
    with closing(check_targets([str(ref)], settings=settings, standard_input=io.BytesIO())) as reports:
        report = next(reports)
    if arguments.json:
        outdated = knowledge.has_outdated_validation(ref) if record and record.validated_at else None
        kept = {**_kept(ref, record, knowledge), "validation_outdated": outdated}
        print_json({**kept, **report.as_json(), "target": as_json_text(shown_ref(ref))})
    else:
        _show_to_a_person(ref, record, knowledge, report)
    if isinstance(report.error, Unreachable):
        return UNREACHABLE
    return FAILED if report.error else DONE


def _show_to_a_person(
    ref: ModelRef, record: ModelRecord | None, knowledge: ModelKnowledge, report: ModelReport
) -> None:
    screen = Screen()
    screen.line(screen.styled(printable(shown_ref(ref)), "strong"))
    if record is None:
        screen.line("  nothing is kept of it")
    else:
        for name, value in record.as_json().items():
            screen.wrapped(printable(f"{name}: {bytes(value).decode()}"), indent=4)
        if record.validated_at and knowledge.has_outdated_validation(ref):
            screen.wrapped("the validation is outdated: the model by that name is another one now", indent=4)
    screen.line(screen.styled(printable(f"  kept in {knowledge.registry.path}"), "dim"))
    show_evidence(screen, report)


def _kept(ref: ModelRef, record: ModelRecord | None, knowledge: ModelKnowledge) -> dict[str, Any]:
    return {
        "ref": as_json_text(shown_ref(ref)),
        "record": record.as_json() if record else None,
        "kept_in": knowledge.registry.path,
    }


def _in_words(record: ModelRecord | None) -> str:
    said = []
    if record and record.tool_support is not None:
        source = (record.tool_support_source or "user_confirmed").replace("_", " ")
        said.append(f"tools {'yes' if record.tool_support else 'no'} ({source})")
    if record and record.manual_context:
        said.append(f"context {record.manual_context:,} tokens")
    return ", ".join(said) or _FOUND_OUT
