"""The vectors in what servers answer, in OpenAI's form or in Ollama's."""

from __future__ import annotations

import msgspec

from callgate.backends.protocol import Embedded
from callgate.vocabulary import BadAnswer


class _Entry(msgspec.Struct):
    embedding: list[float]
    index: int = 0


class _OpenAIs(msgspec.Struct):
    data: list[_Entry]


class _Ollamas(msgspec.Struct):
    embeddings: list[list[float]]


def vectors_in(answer: object, place: str, wanted: int) -> Embedded:
    """Raises: BadAnswer, if they aren't as many as `wanted`."""
    try:
        if isinstance(answer, dict) and "embeddings" in answer:
            vectors = msgspec.convert(answer, _Ollamas).embeddings
        else:
            entries = msgspec.convert(answer, _OpenAIs).data
            vectors = [entry.embedding for entry in sorted(entries, key=lambda entry: entry.index)]
    except msgspec.ValidationError:
        raise BadAnswer(f"{place} sent no embeddings", hint="is it a model for embedding?") from None
    if len(vectors) != wanted:
        raise BadAnswer(f"{place} sent {len(vectors)} embeddings for {wanted} texts")
    return Embedded(vectors, _tokens_in(answer))


def _tokens_in(answer: object) -> int | None:
    match answer:
        case {"prompt_eval_count": int(count)} | {"usage": {"prompt_tokens": int(count)}}:
            return count if count > 0 else None  # there is no text without tokens, so nobody counted
    return None
