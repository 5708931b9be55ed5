"""Answers with calls in every format, broken in every way, read whole and in pieces."""

from __future__ import annotations

import random
from collections.abc import Iterable

from callgate.gate.recovery import FORMATS, Found, Piece, Recovery, engine
from callgate.gate.recovery.formats import KNOWN
from callgate.tools import Names
from tests.gate.recovery.reading import TOOLS, joined
from tests.gate.recovery.tokens import TOKENS

EXPECTED: tuple[type[BaseException], ...] = ()
NAMES = Names(TOOLS)
BOUNDS = (engine.MOST_HELD, engine.MOST_READ_AGAIN)
RUNS = ("a", "a", " ", "\n", "=", '"', "é", "7", "`", "<", "_")


def seeds() -> Iterable[bytes]:
    for known in KNOWN:
        yield known.example.encode()
        yield f"<think>Hm {known.example}</think>I look.\n{known.example}\nDone.".encode()


def mutate(data: bytes, rng: random.Random) -> bytes:
    text = data.decode(errors="replace")
    for _ in range(rng.randint(1, 4)):
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice((0, 0, 1, 4, 20)))
        more = rng.choice(RUNS) * rng.randint(1, 1100) if rng.random() < 0.1 else _tokens(rng)
        text = text[:start] + more + text[end:]
    return text.encode()


def _tokens(rng: random.Random) -> str:
    return rng.choice(TOKENS) * rng.choice((1, 1, 1, 1, 1, 2, 50, 300))


def one_input(data: bytes) -> str:
    """Nothing may be lost, and it may not matter how the text comes, nor which names and formats there are."""
    text = data.decode(errors="replace")
    rng = random.Random(len(data))
    outcome = "text"
    one_format = (FORMATS[rng.choice(list(FORMATS))],)
    for names, formats, bounds in ((NAMES, None, BOUNDS), (None, None, BOUNDS), (None, one_format, _bounds(rng))):
        whole = _read([text], names, formats, bounds)
        assert "".join(piece.raw for piece in whole) == text, "something is lost"
        places = sorted(rng.randint(0, len(text)) for _ in range(rng.randint(1, 9)))
        chunks = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
        assert _read(chunks, names, formats, bounds) == whole, "the meaning depends on how the text comes"
        if any(isinstance(piece, Found) for piece in whole):
            outcome = "calls"
    if len(text) < 2000:
        bounds = rng.choice((BOUNDS, _bounds(rng)))
        whole = _read([text], NAMES, None, bounds)
        assert _read(list(text), NAMES, None, bounds) == whole, "the meaning depends on the pieces"
    return outcome


def _bounds(rng: random.Random) -> tuple[int, int]:
    """So narrow that short texts meet them."""
    return rng.randint(1, 200), rng.randint(0, 2000)


def _read(chunks: list[str], names: Names | None, formats: object, bounds: tuple[int, int] = BOUNDS) -> list[Piece]:
    engine.MOST_HELD, engine.MOST_READ_AGAIN = bounds
    recovery = Recovery(names, formats if isinstance(formats, tuple) else None)
    found: list[Piece] = []
    for chunk in chunks:
        found += recovery.feed(chunk)
    return joined([*found, *recovery.close()])
