"""Which wording and which values a trial gets: the same for the same seed, on every machine, and other ones next time.

The combinations of a case are put in an order that looks like chance, and the trials take one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from callgate.validate.case_records import Case, Expected, SecretKind, Step
from callgate.vocabulary import UsageError

_NAMED = re.compile(r"\{([A-Za-z_]\w*)\}")
_OF_ANY_TYPE = frozenset({"arguments", "accept", "optional", "json"})
"""Where a value stays what it is; everywhere else there is text."""
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"


class Filled(msgspec.Struct, frozen=True):
    """A case as one trial puts it."""

    question: str
    expect: Expected
    then: tuple[Step, ...]
    system: str | None
    history: tuple[dict[str, Any], ...]
    values: Mapping[str, Any]


def combinations(case: Case) -> int:
    """How many trials of it are all different."""
    return len(case.ask) * len(case.values)


def filled(case: Case, trial: int, seed: int = 0) -> Filled:
    """Raises: UsageError, if it names a value that it doesn't have."""
    count = combinations(case)
    order = sorted(range(count), key=lambda number: _chance(seed, case.name, "order", number))
    wording, place = divmod(order[trial % count], len(case.values))
    secrets = {name: _secret(kind, _chance(seed, case.name, name, trial), trial) for name, kind in case.secrets.items()}
    return fill(case, wording, {**case.values[place], **secrets})


def as_written(case: Case) -> Filled:
    """Its first wording, in which braces are just braces."""
    return Filled(case.ask[0], case.expect, case.then, case.system, case.history, {})


def fill(case: Case, wording: int, values: Mapping[str, Any]) -> Filled:
    return Filled(
        question=_put(case.ask[wording], str, values, case),
        expect=_put(case.expect, Expected, values, case),
        then=_put(case.then, tuple[Step, ...], values, case),
        system=_put(case.system, str | None, values, case),
        history=_put(case.history, tuple[dict[str, Any], ...], values, case),
        values=values,
    )


def _put(given: object, kind: Any, values: Mapping[str, Any], case: Case) -> Any:
    try:
        return msgspec.convert(_with_values(msgspec.to_builtins(given), values, case), kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"the case {case.name!r} is no good with the values {dict(values)!r:.200}: {error}") from None


def _with_values(given: object, values: Mapping[str, Any], case: Case, *, as_they_are: bool = False) -> Any:
    match given:
        case str():
            whole = _NAMED.fullmatch(given) if as_they_are else None
            if whole:
                return _value(whole, values, case)
            return _NAMED.sub(lambda found: _as_text(_value(found, values, case)), given)
        case dict():
            return {
                key: _with_values(value, values, case, as_they_are=as_they_are or key in _OF_ANY_TYPE)
                for key, value in given.items()
            }
        case list() | tuple():
            return [_with_values(each, values, case, as_they_are=as_they_are) for each in given]
    return given


def _value(found: re.Match[str], values: Mapping[str, Any], case: Case) -> Any:
    if found[1] not in values:
        raise UsageError(
            f"the case {case.name!r} has {found[0]!r} in it, and no such value",
            hint=f"its values and secrets are: {', '.join(values) or 'none'}",
        )
    return values[found[1]]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _chance(*of: object) -> int:
    """The random module may draw otherwise in a later Python; this doesn't."""
    return int.from_bytes(sha256("/".join(map(str, of)).encode()).digest()[:16])


def _secret(kind: SecretKind, chance: int, trial: int) -> str | int:
    match kind:
        case "number":
            return 10_000 + chance % 90_000
        case "code":
            letters = "".join(_LETTERS[(chance >> shift) % len(_LETTERS)] for shift in (0, 16))
            return f"{letters}{1_000 + (chance >> 32) % 9_000}"
        case "word":
            parts = []
            for place in range(3):
                piece = chance >> (24 * place)
                parts.append(_CONSONANTS[piece % len(_CONSONANTS)] + _VOWELS[(piece >> 8) % len(_VOWELS)])
            return "".join(parts).capitalize() + _CONSONANTS[trial % len(_CONSONANTS)]
