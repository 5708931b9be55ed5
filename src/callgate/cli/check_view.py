"""How `callgate check` shows its reports to a person: a line for each, and below it, if asked, the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from callgate.chat import cut
from callgate.cli.screen import Screen, printable
from callgate.runtime import ModelReport, timestamp
from callgate.settings import without_password
from callgate.vocabulary import Answer, Capabilities, Evidence, Source

_STYLE = {Answer.YES: "good", Answer.NO: "bad", Answer.UNKNOWN: "doubt"}
_WIDEST_MODEL = 44
_MOST_NAMED = 8
_ABILITIES = {
    "supports_parallel_tool_calls": "parallel calls",
    "supports_system_role": "system",
    "supports_thinking": "thinking",
    "supports_vision": "vision",
    "supports_audio": "audio",
    "is_embedding": "embedding",
}
_FIRST_CLAIMS = ("tools", "native_route", "reliability", "supports_tools", "supports_tool_calls")
Row = Sequence[tuple[str, str]]


def show_table(screen: Screen, reports: Sequence[ModelReport]) -> None:
    headings = [(heading, "dim") for heading in ("TOOLS", "MODEL", "ALSO", "CONTEXT", "SIZE", "WHY")]
    screen.table([headings, *(_row(report) for report in reports)])
    hints: dict[str, list[str]] = {}
    for report in reports:
        if report.error and report.error.hint:
            hints.setdefault(report.error.hint, []).append(report.target)
    for hint, targets in hints.items():
        more = [f"and {len(targets) - _MOST_NAMED} more"] if len(targets) > _MOST_NAMED else []
        named = ", ".join([*targets[:_MOST_NAMED], *more])
        screen.wrapped(printable(without_password(f"{named}: {hint}")), indent=0, style="dim")


def _row(report: ModelReport) -> Row:
    target = f"{report.target} → {report.model}" if report.target == "auto" else report.target
    model = (_shortened(printable(without_password(target))), "strong")
    known = report.capabilities
    if known is None:
        return [("error", "bad"), model, ("", ""), ("", ""), ("", ""), (str(report.error), "")]
    return [
        (known.tools + ("?" if known.guess else ""), "doubt" if known.guess else _STYLE[known.tools]),
        model,
        (", ".join(word for field, word in _ABILITIES.items() if getattr(known, field)), ""),
        (_context(known), ""),
        (" ".join(filter(None, (known.parameter_size, known.quantization))), ""),
        ("; ".join(_reasons(report)), "dim"),
    ]


def _shortened(target: str) -> str:
    """Of a path the end tells more than the start."""
    if "/" not in target or "://" in target:
        return cut(target, _WIDEST_MODEL)
    return cut(target[::-1], _WIDEST_MODEL)[::-1]


def _context(known: Capabilities) -> str:
    length = f"{known.context_length:,}" if known.context_length else ""
    return f"{length} ({known.loaded_context:,} loaded)" if known.loaded_context else length


def _reasons(report: ModelReport) -> Iterator[str]:
    deciding = {found.claim: found for found, decides in report.evidence if decides}
    yield deciding["tools"].detail if "tools" in deciding else "nothing that is known decides it"
    notes = [str(found.answer) for found, _ in report.evidence if found.claim == "note"]
    if report.error:
        yield (
            f"a guess: {report.error.message}"
            if report.capabilities and report.capabilities.guess
            else str(report.error)
        )
    elif notes:
        yield notes[0]
    elif (route := deciding.get("native_route")) and route.answer == Answer.NO and report.tools is Answer.YES:
        yield f"but its server won't pass tools on: {route.detail}"


def show_evidence(screen: Screen, report: ModelReport) -> None:
    """Each piece of evidence, by claim, in order of weight: the one that decides, and those that disagree with it."""
    screen.line()
    known = report.capabilities
    found_at = f"  found {timestamp(known.cached_at)}" if known and known.cached_at else ""
    screen.line(screen.styled(printable(without_password(report.target)), "strong") + screen.styled(found_at, "dim"))
    if report.error:
        screen.wrapped(printable(str(report.error)), indent=2)
    alone: dict[tuple[str, str, str], list[str]] = {}
    for claim, pieces in groupby(sorted(report.evidence, key=_by_claim), key=lambda piece: piece[0].claim):
        rows = list(pieces)
        only, decides = rows[0]
        if len(rows) == 1 and decides and claim not in _FIRST_CLAIMS:
            alone.setdefault((str(only.answer), only.source, only.detail), []).append(claim)
        else:
            _show_claim(screen, claim, rows, found_at=known.cached_at if known else None)
    for (answer, source, detail), claims in alone.items():
        screen.wrapped(f"{', '.join(claims)}: {printable(answer)}", indent=2, style="strong")
        screen.wrapped(f"{source}: {printable(detail)}", indent=6, mark=screen.styled("●", "good"))
    if report.evidence:
        screen.line(screen.styled("  ● decides   ≠ disagrees   · agrees, or doesn't know", "dim"))


def _show_claim(screen: Screen, claim: str, rows: Sequence[tuple[Evidence, bool]], found_at: float | None) -> None:
    decided = next((found for found, decides in rows if decides), None)
    answer = printable(str(decided.answer)) if decided else "not known"
    screen.line(f"  {screen.styled(claim, 'strong')}: {answer}" if claim != "note" else "  notes")
    for found, decides in rows:
        mark, style = "·", "dim"
        if decides:
            mark, style = "●", "good"
        elif decided and found.source is not Source.DEFAULT and found.answer not in (decided.answer, Answer.UNKNOWN):
            mark, style = "≠", "bad"
        said = f"{found.source} says {found.answer}: {found.detail}"
        if claim == "note":
            said = f"{found.detail}: {found.answer}"
        if found_at and abs(found.at - found_at) > 1:
            said += f" ({timestamp(found.at)})"
        screen.wrapped(printable(said), indent=6, mark=screen.styled(mark, style))


def _by_claim(piece: tuple[Evidence, bool]) -> tuple[int, str]:
    claim = piece[0].claim
    return (_FIRST_CLAIMS.index(claim), "") if claim in _FIRST_CLAIMS else (len(_FIRST_CLAIMS), claim)
