"""What a person sees of the tour, and what a program gets."""

from __future__ import annotations

import textwrap

import msgspec

from callgate.cli.demo_steps import STEPS, Ran, Step, Taken
from callgate.cli.screen import ENDLESS, LiveLine, Screen, print_json, printable
from callgate.vocabulary import repair_as_json

MARGIN = 13
"""Where the words start, behind who says them."""
WIDEST = 110
LONGEST_SHOWN = 400


class JsonDemoView:
    """One object a line for each step."""

    def begin(self) -> None:
        pass

    def announce(self, step: Step) -> None:
        pass

    def hear(self) -> None:
        pass

    def show(self, taken: Taken) -> None:
        print_json(taken_as_json(taken))

    def end(self, *, failed: int, seconds: float) -> None:
        pass


class TextDemoView:
    """A page that is read in a minute."""

    def __init__(self) -> None:
        self._screen = Screen()
        self._waiting = LiveLine()

    def begin(self) -> None:
        self._screen.line(
            self._screen.styled("callgate: a small model, real tools, and the gate between them", "strong")
        )
        self._screen.line("Nothing leaves this machine, and nothing is kept.")

    def announce(self, step: Step) -> None:
        number = STEPS.index(step) + 1
        self._screen.line()
        self._screen.line(self._screen.styled(f"{number}/{len(STEPS)}  {step.title}", "strong"))
        self._said("", step.tells, "dim")
        self._said("you", step.question)
        self._waiting.show(f"{step.model} …")

    def hear(self) -> None:
        """The model is waited for no longer."""
        self._waiting.end()

    def show(self, taken: Taken) -> None:
        self._said("gate", f"{taken.mode} for {taken.step.model}: {taken.reason}", "dim")
        for ran in taken.ran:
            self._show_call(ran)
        for notice in taken.notices:
            if notice.kind != "tools_emulated":  # which the line of the gate has said
                self._said("note", notice.message, "doubt")
        if taken.answer:
            self._said(taken.step.model, taken.answer)
        if taken.problem:
            self._said("wrong", taken.problem, "bad")

    def _show_call(self, ran: Ran) -> None:
        arguments = msgspec.json.encode(ran.call.arguments).decode()
        if ran.call.raw and not _is_read_already(ran):
            self._said("wrote", ran.call.raw)
        for repair in ran.call.repairs:
            before, after = (msgspec.json.encode(value).decode() for value in (repair.before, repair.after))
            self._said("mended", f"{repair.path}: {before} is {after} now ({repair.rule})", "doubt")
        mended = "" if ran.call.repairs else ", nothing to mend"
        self._said("call", f"{ran.call.name} {arguments}{mended}", "good")
        if ran.call.problem:
            self._said("problem", ran.call.problem, "bad")
        if ran.result:
            self._said("result", ran.result.content, "bad" if ran.result.is_error else "good")

    def end(self, *, failed: int, seconds: float) -> None:
        self._screen.line()
        if failed:
            self._screen.line(self._screen.styled(f"{failed} of {len(STEPS)} steps went wrong", "bad"))
        else:
            said = f"each call really ran, gave the right result, and the answer says it ({seconds:.1f} s)"
            self._screen.line(self._screen.styled(said, "good"))
        self._screen.line("next: callgate check MODEL · callgate chat · callgate serve · callgate doctor")

    def _said(self, who: str, text: str, style: str = "") -> None:
        lines = [line for piece in text[:LONGEST_SHOWN].splitlines() for line in self._broken(printable(piece))]
        for line in lines:
            start = self._screen.styled(who, "dim") + " " * (MARGIN - len(who))
            self._screen.line((start + self._screen.styled(line, style)).rstrip())
            who = ""

    def _broken(self, text: str) -> list[str]:
        return (
            [text] if self._screen.width == ENDLESS else textwrap.wrap(text, min(self._screen.width, WIDEST) - MARGIN)
        )


def _is_read_already(ran: Ran) -> bool:
    """Whether an engine has read the call, and what we got is nothing but its arguments."""
    try:
        return bool(msgspec.json.decode(ran.call.raw or "") == ran.call.arguments)
    except (msgspec.DecodeError, RecursionError):
        return False


def taken_as_json(taken: Taken) -> dict[str, object]:
    step = taken.step
    return {
        "step": step.name,
        "model": step.model,
        "question": step.question,
        "mode": taken.mode,
        "reason": taken.reason,
        "calls": [_ran_as_json(ran) for ran in taken.ran],
        "answer": taken.answer,
        "notices": [{"kind": notice.kind, "message": notice.message} for notice in taken.notices],
        "seconds": round(taken.seconds, 3),
        "ok": taken.problem is None,
        "problem": taken.problem,
    }


def _ran_as_json(ran: Ran) -> dict[str, object]:
    return {
        "name": ran.call.name,
        "args": ran.call.arguments,
        "raw": ran.call.raw,
        "repairs": [repair_as_json(repair) for repair in ran.call.repairs],
        "problem": ran.call.problem,
        "result": ran.result.content if ran.result else None,
        "is_error": ran.result.is_error if ran.result else None,
    }
