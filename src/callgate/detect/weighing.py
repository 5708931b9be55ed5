"""From evidence to capabilities: of each claim, the strongest source that knows an answer decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import NoneType
from typing import Any, get_args, get_type_hints

import msgspec

from callgate.vocabulary import Answer, Capabilities, Evidence, Source

_NOT_CLAIMED = {"name", "guess", "evidence", "cached_at", "has_tool_use_template"}


def _claims() -> dict[str, type]:
    """The fields of `Capabilities` that evidence decides, each with its type."""
    claims = {}
    for name, hint in get_type_hints(Capabilities).items():
        if name not in _NOT_CLAIMED:
            types = [kind for kind in get_args(hint) if kind is not NoneType]
            claims[name] = types[0] if types else hint
    return claims


_CLAIMS = _claims()


def conclude(
    name: str, evidence: Iterable[Evidence], *, guess: bool = False, has_tool_use_template: bool = False
) -> Capabilities:
    """What follows for the model `name`. `guess`: its server failed, and what it knows is missing here.

    A verdict on tools by the name alone is a guess as well.
    """
    ranked = _with_what_follows_from_embedding(sorted(evidence, key=_weight))
    deciding = decisive(ranked)
    fields: dict[str, Any] = {claim: _value(found) for claim, found in deciding.items()}
    return Capabilities(
        name=name,
        guess=guess or ("tools" in deciding and deciding["tools"].source is Source.NAME),
        has_tool_use_template=has_tool_use_template,
        evidence=tuple(ranked),
        **fields,
    )


def decisive(ranked: Iterable[Evidence]) -> dict[str, Evidence]:
    """The piece of evidence that decides each claim, of evidence in order of weight."""
    deciding: dict[str, Evidence] = {}
    for found in ranked:
        if found.claim in _CLAIMS and found.claim not in deciding and _value(found) is not None:
            deciding[found.claim] = found
    return deciding


def _weight(found: Evidence) -> tuple[int, float]:
    """Strongest source first; of one source's words the newest."""
    return found.source.rank, -found.at


def _with_what_follows_from_embedding(ranked: Sequence[Evidence]) -> Sequence[Evidence]:
    """Embedding models call no tools. A pooling type or a server's word on it overrules all but the user's word."""
    why = decisive(ranked).get("is_embedding")
    if why is None or why.answer != Answer.YES:
        return ranked
    follows = [
        msgspec.structs.replace(why, claim=claim, answer=Answer.NO, detail=f"an embedding model: {why.detail}")
        for claim in ("tools", "native_route")
    ]
    if why.source is Source.NAME:  # only a name
        return sorted((*follows, *ranked), key=_weight)
    users = [found for found in ranked if found.source.is_users_word]
    return [*users, *follows, *ranked[len(users) :]]


def _value(found: Evidence) -> Answer | bool | int | str | None:
    """The answer as the field has it; `None` if it isn't known, or isn't of the field's kind."""
    kind, answer = _CLAIMS[found.claim], found.answer
    if kind not in (Answer, bool):
        return answer if isinstance(answer, kind) else None
    known = Answer(answer).known if isinstance(answer, str) and answer in _ANSWERS else None
    if known is None:
        return None
    return known if kind is bool else Answer.of(known)


_ANSWERS = frozenset(Answer)
