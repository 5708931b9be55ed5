"""Two runs, trial against trial: what became better, what worse, and how likely that is mere chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from callgate.validate.records import Run, Trial
from callgate.validate.standings import Column, row_of
from callgate.validate.statistics import SIGNIFICANT, Rate, holm, mcnemar

FEWEST = 6
"""Pairs without which McNemar's test can't fall below 0.05, whatever they say."""

Key = tuple[str, str, str, str, int]
Pair = tuple[Trial, Trial]

SHORT_DIGEST = 12


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison: a model in a mode, in all or on one case."""

    model: str
    mode: str
    case: str | None
    """`None`: all cases together."""
    pairs: int
    before: int
    """Passed before."""
    after: int
    better: int
    """Failed before, passed now."""
    worse: int
    p: float
    """McNemar's, exact and two-sided."""
    adjusted: float
    """The same, for all the comparisons of its kind at once (Holm)."""

    @property
    def significant(self) -> bool:
        return self.adjusted < SIGNIFICANT

    @property
    def verdict(self) -> str:
        """`better`, `worse`, or what can't be told apart from chance: `same`."""
        if not self.significant:
            return "same"
        return "better" if self.better > self.worse else "worse"

    @property
    def rates(self) -> tuple[Rate, Rate]:
        return Rate(self.before, self.pairs), Rate(self.after, self.pairs)

    def as_json(self) -> dict[str, Any]:
        return {**msgspec.to_builtins(self), "significant": self.significant, "verdict": self.verdict}


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What two runs have in common, and where they differ."""

    overall: tuple[Paired, ...]
    """For each model and mode."""
    by_case: tuple[Paired, ...]
    unpaired: tuple[int, int]
    """Trials that only the run before has, or only the one after, or that one of them couldn't judge."""
    notes: tuple[str, ...]
    """What to know before believing any of it."""

    @property
    def pairs(self) -> int:
        return sum(found.pairs for found in self.overall)

    @property
    def significant(self) -> tuple[Paired, ...]:
        return tuple(found for found in (*self.overall, *self.by_case) if found.significant)

    def as_json(self) -> dict[str, Any]:
        return {
            "type": "comparison",
            "pairs": self.pairs,
            "unpaired": {"before": self.unpaired[0], "after": self.unpaired[1]},
            "comparisons": {"overall": len(self.overall), "by_case": len(self.by_case)},
            "overall": [found.as_json() for found in self.overall],
            "by_case": [found.as_json() for found in self.by_case],
            "notes": list(self.notes),
        }

    def sentences(self) -> Iterator[str]:
        """All of it in words."""
        if not self.pairs:
            yield "Nothing can be compared: no trial of one run has its like in the other."
        for found in self.overall:
            yield _sentence(found)
        notable = [found for found in self.by_case if found.significant]
        yield from map(_sentence, notable)
        if self.by_case:
            cases = _plural(len(self.by_case), "comparison")
            yield f"{cases} by case, {len(notable) or 'none'} of them significant (p < {SIGNIFICANT} after Holm)."
        if any(self.unpaired):
            yield f"Not paired: {self.unpaired[0]} trials of the run before, {self.unpaired[1]} of the one after."
        yield from self.notes


def compare(before: Sequence[Run], after: Sequence[Run]) -> Comparison:
    """Trials are pairs if model, mode, case, check and number are the same.

    Where each side has one model only, and another than the other side, these two are compared.
    """
    old, new = _by_key(before), _by_key(after)
    notes = list(_notes(before, after))
    renamed = _renamed(old, new)
    if renamed:
        notes.insert(0, f"Two models are compared: {renamed[0]!r} before, {renamed[1]!r} after.")
        old = {(renamed[1], *key[1:]): trial for key, trial in old.items()}
    pairs = [(old[key], new[key]) for key in new if key in old and _judged(old[key]) and _judged(new[key])]
    if pairs and _repetitive(pairs):
        notes.append(
            "Every repeated trial gave the same answer again: it counts each time, but says no more than one would."
        )
    overall: dict[tuple[Column, str | None], list[Pair]] = {}
    by_case: dict[tuple[Column, str | None], list[Pair]] = {}
    for pair in pairs:
        column = Column(pair[1].model, pair[1].mode)
        overall.setdefault((column, None), []).append(pair)
        by_case.setdefault((column, row_of(pair[1].case)), []).append(pair)
    largest = max(map(len, by_case.values()), default=FEWEST)
    if largest < FEWEST:
        notes.append(f"By case nothing can be significant: that takes {FEWEST} trials, and there are {largest}.")
    return Comparison(
        overall=tuple(_tested(overall)),
        by_case=tuple(_tested(by_case)),
        unpaired=(len(old) - len(pairs), len(new) - len(pairs)),
        notes=tuple(notes),
    )


def _by_key(runs: Iterable[Run]) -> dict[Key, Trial]:
    """A trial that was made again replaces the one before it."""
    return {
        (trial.model, trial.mode, trial.case, trial.check, trial.trial): trial for run in runs for trial in run.trials
    }


def _judged(trial: Trial) -> bool:
    return trial.passed is not None


def _renamed(old: Iterable[Key], new: Iterable[Key]) -> tuple[str, str] | None:
    models = [{key[0] for key in side} for side in (old, new)]
    if len(models[0]) == len(models[1]) == 1 and models[0] != models[1]:
        return models[0].pop(), models[1].pop()
    return None


def _tested(groups: Mapping[tuple[Column, str | None], Sequence[Pair]]) -> Iterator[Paired]:
    counts = {
        name: (
            sum(new.passed is True and old.passed is False for old, new in pairs),
            sum(new.passed is False and old.passed is True for old, new in pairs),
        )
        for name, pairs in groups.items()
    }
    p_values = {name: mcnemar(worse, better) for name, (better, worse) in counts.items()}
    adjusted = holm(p_values)
    for name, pairs in groups.items():
        column, case = name
        better, worse = counts[name]
        yield Paired(
            model=column.model,
            mode=column.mode,
            case=case,
            pairs=len(pairs),
            before=sum(old.passed is True for old, _ in pairs),
            after=sum(new.passed is True for _, new in pairs),
            better=better,
            worse=worse,
            p=p_values[name],
            adjusted=adjusted[name],
        )


def _repetitive(pairs: Sequence[Pair]) -> bool:
    """Whether no model ever answered the same question in two ways: its trials are then copies of one another."""
    first: dict[tuple[str, str, str, str], Pair] = {}
    copies = 0
    for old, new in pairs:
        seen = first.setdefault((new.model, new.mode, new.case, new.check), (old, new))
        if seen[0] is not old:
            copies += 1
            if (seen[0].outcome, seen[0].got, seen[1].outcome, seen[1].got) != (
                old.outcome,
                old.got,
                new.outcome,
                new.got,
            ):
                return False
    return copies > 0


def short_digest(digest: str) -> str:
    """Enough of it to tell it from others."""
    kind, colon, letters = digest.rpartition(":")
    return f"{kind}{colon}{letters[:SHORT_DIGEST]}"


def _notes(before: Sequence[Run], after: Sequence[Run]) -> Iterator[str]:
    past = {run.about.model: run.about for run in before}
    for now in (run.about for run in after):
        was = past.get(now.model)
        if was is None:
            continue
        for word, then, today in (("suite", was.suite, now.suite), ("seed", was.seed, now.seed)):
            if then != today:
                yield f"{now.model!r} was tried with another {word}: {then} before, {today} now."
        if was.digest and now.digest and was.digest != now.digest:
            change = f"{short_digest(was.digest)} became {short_digest(now.digest)}"
            yield f"{now.model!r} is another file than before: {change}."
        if not (was.complete and now.complete):
            yield f"Of {now.model!r} a run is incomplete."


def _sentence(found: Paired) -> str:
    old, new = found.rates
    where = f"{found.model} {found.mode}" + (f", {found.case}" if found.case else "")
    change = f"{_percent(old)} → {_percent(new)}"
    split = f"{found.better} better, {found.worse} worse of {_plural(found.pairs, 'pair')}"
    if not found.better + found.worse:
        return f"{where}: {change}; not one of {_plural(found.pairs, 'pair')} differs."
    p = f"p = {found.p:.2g}" + (f", {found.adjusted:.2g} after Holm" if found.adjusted != found.p else "")
    judged = f"significantly {found.verdict}" if found.significant else "no significant difference"
    return f"{where}: {change}; {split}; {judged} ({p})."


def _percent(rate: Rate) -> str:
    return f"{rate.passed / rate.of:.0%}" if rate.of else "–"


def _plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
