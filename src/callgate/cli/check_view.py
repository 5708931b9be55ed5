"""How `callgate check` shows its reports to a person: a line for each, and below it, if asked, the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from callgate.cli.screen import Screen, printable, shortened
from callgate.runtime import ModelReport
from callgate.vocabulary import Answer, Capabilities, Evidence

_STYLE = {Answer.YES: "good", Answer.NO: "bad", Answer.UNKNOWN: "doubt"}
_WIDEST_MODEL = 44
_ABILITIES = {
    "supports_parallel_tool_calls": "parallel calls",
    "supports_system_role": "system",
    "supports_thinking": "thinking",
    "supports_vision": "vision",
    "supports_audio": "audio",
    "is_embedding": "embedding",
}
Row = Sequence[tuple[str, str]]


def show_table(screen: Screen, reports: Sequence[ModelReport]) -> None:
    headings = [(heading, "dim") for heading in ("TOOLS", "MODEL", "ALSO", "CONTEXT", "SIZE", "WHY")]
    screen.table([headings, *(_row(report) for report in reports)])
    for report in reports:
        if report.error and report.error.hint:
            screen.line(screen.styled(printable(f"{report.target}: {report.error.hint}"), "dim"))


def _row(report: ModelReport) -> Row:
    model = (shortened(printable(report.target), _WIDEST_MODEL), "strong")
    known = report.capabilities
    if known is None:
        return [("error", "bad"), model, ("", ""), ("", ""), ("", ""), (str(report.error), "")]
    return [
        (known.tools + ("?" if known.guess else ""), "doubt" if known.guess else _STYLE[known.tools]),
        model,
        (", ".join(word for field, word in _ABILITIES.items() if getattr(known, field)), ""),
        (_context(known), ""),
        (" ".join(filter(None, (known.parameter_size, known.quantization))), ""),
        (why(report), "dim"),
    ]


def _context(known: Capabilities) -> str:
    length = f"{known.context_length:,}" if known.context_length else ""
    return f"{length} ({known.loaded_context:,} loaded)" if known.loaded_context else length


def why(report: ModelReport) -> str:
    """The one reason for the verdict on tools."""
    reason = next((found.detail for found, decides in report.evidence if found.claim == "tools" and decides), None)
    if report.error:
        return f"a guess, because {report.error.message}"
    return reason or "nothing is known about it"


def show_evidence(screen: Screen, report: ModelReport) -> None:
    """Each piece of evidence, by claim, in order of weight: the one that decides, and those that disagree with it."""
    screen.line()
    screen.line(screen.styled(printable(report.target), "strong"))
    if report.error:
        screen.wrapped(printable(f"{report.error} {report.error.hint or ''}"), indent=2)
    for claim, pieces in groupby(sorted(report.evidence, key=_by_claim), key=lambda piece: piece[0].claim):
        rows = list(pieces)
        decided = next((found for found, decides in rows if decides), None)
        answer = str(decided.answer) if decided else "not known"
        screen.line(f"  {screen.styled(claim, 'strong')}: {printable(answer)}")
        for found, decides in rows:
            mark = "●" if decides else "≠" if decided and _disagrees(found, decided) else "·"
            style = "good" if decides else "bad" if mark == "≠" else "dim"
            said = f"{found.source} says {printable(str(found.answer))}: {printable(found.detail)}"
            screen.line(f"    {screen.styled(mark, style)} {said}{screen.styled(_when(found), 'dim')}")
    if report.evidence:
        screen.line(screen.styled("  ● decides   ≠ disagrees   · agrees, or doesn't know", "dim"))


def _by_claim(piece: tuple[Evidence, bool]) -> tuple[int, str]:
    first = ("tools", "native_route", "supports_tools", "supports_tool_calls")
    claim = piece[0].claim
    return (first.index(claim), "") if claim in first else (len(first), claim)


def _disagrees(found: Evidence, decided: Evidence) -> bool:
    return found.answer not in (decided.answer, Answer.UNKNOWN)


def _when(found: Evidence) -> str:
    from callgate.runtime import timestamp

    return f"  {timestamp(found.at)}" if found.at else ""
