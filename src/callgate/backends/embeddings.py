"""The vectors in what servers answer, in OpenAI's form or in Ollama's."""

from __future__ import annotations

import msgspec

from callgate.vocabulary import BadAnswer


class _Entry(msgspec.Struct):
    embedding: list[float]
    index: int = 0


class _OpenAIs(msgspec.Struct):
    data: list[_Entry]


class _Ollamas(msgspec.Struct):
    embeddings: list[list[float]]


def vectors_in(answer: object, place: str, wanted: int) -> list[list[float]]:
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
    return vectors
