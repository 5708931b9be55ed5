"""Small GGUF files, broken in every way, fed to the header reader whole and in pieces."""

from __future__ import annotations

from collections.abc import Iterable

from callgate.detect.gguf import Header, HeaderReader, facts_of, header_evidence, strings
from callgate.detect.gguf.layout import ARRAY, STRING, ByteOrder
from callgate.vocabulary import HeaderError
from tests.detect.gguf.writer import INT32, UINT8, Gguf, Items, Tensor, small_model

EXPECTED: tuple[type[BaseException], ...] = (HeaderError,)

# So that small inputs come by the pattern that passes many strings at once.
strings.WORTH_COMPILING = strings.GROUP


def seeds() -> Iterable[bytes]:
    orders: tuple[ByteOrder, ByteOrder] = ("little", "big")
    for version in (1, 2, 3):
        for order in orders:
            yield small_model(version, order).to_bytes()
    yield Gguf().to_bytes()
    nested = Items(ARRAY, [Items(INT32, [1, 2]), Items(STRING, ["a"]), Items(ARRAY, [Items(UINT8, [1])])])
    yield Gguf({"nested": nested, "split.no": 1, "split.count": 2}, [Tensor("t", (2, 3, 4, 5), 2)]).to_bytes()
    words = Items(STRING, [b"w" * (n % 45) for n in range(300)])
    yield Gguf({"tokenizer.ggml.tokens": words, "tokenizer.ggml.bos_token_id": 299}).to_bytes()


def one_input(data: bytes) -> str | None:
    """With the file's size known and not, whole and in pieces: the verdict must be the same header, or a refusal."""
    whole = _read([data], None)
    middle = len(data) // 2
    pieces = [data[:7], data[7:middle], data[middle : middle + 1], data[middle + 1 :]]
    assert repr(_read(pieces, None)) == repr(whole), "the header depends on how the bytes come"
    sized = _read([data], len(data))
    assert sized is None or repr(sized) == repr(whole), "the header depends on whether the size is known"
    if whole is None:
        return "refused"
    for _ in header_evidence(facts_of(whole, "fuzzed", 0.0)):
        pass
    return "read"


def _read(blocks: list[bytes], size: int | None) -> Header | None:
    reader = HeaderReader("the input", size)
    try:
        for block in blocks:
            if header := reader.feed(block):
                return header
        return reader.end()
    except HeaderError:
        return None
