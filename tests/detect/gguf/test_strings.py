from struct import Struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.detect.gguf.strings import GROUP, WORTH_COMPILING, StringWalker

PREFIXES = [Struct(code) for code in ("<Q", ">Q", "<I", ">I")]
LENGTHS = st.one_of(st.integers(0, 100), st.sampled_from([128, 255, 256, 257, 1000]))


def read_one_by_one(block: bytes, count: int, prefix: Struct) -> tuple[int, int]:
    """What the lengths say: where the next string starts, and how many are left."""
    position = 0
    for passed in range(count):
        if position + prefix.size > len(block):
            return position, count - passed
        after = position + prefix.size + prefix.unpack_from(block, position)[0]
        if after > len(block):
            return position, count - passed
        position = after
    return position, 0


def written(lengths: list[int], prefix: Struct) -> bytes:
    return b"".join(prefix.pack(length) + b"\0" * length for length in lengths)


@given(st.lists(LENGTHS, min_size=1, max_size=300), st.sampled_from(PREFIXES), st.integers(0, 60))
def test_the_pattern_passes_what_reading_one_by_one_passes(lengths: list[int], prefix: Struct, cut: int) -> None:
    often = lengths * (WORTH_COMPILING // len(lengths) + 1)
    block = written(often, prefix)
    block = block[: len(block) - cut]
    walker = StringWalker(len(often), prefix)
    end = walker.walk(block, 0)
    assert (end, walker.left) == read_one_by_one(block, len(often), prefix)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("byte", range(8))
def test_every_byte_of_a_length_counts(prefix: Struct, byte: int) -> None:
    block = bytearray(written([5] * WORTH_COMPILING, prefix))
    block[(3 * GROUP + 7) * (prefix.size + 5) + byte % prefix.size] = 0xEE
    walker = StringWalker(WORTH_COMPILING, prefix)
    end = walker.walk(bytes(block), 0)
    assert (end, walker.left) == read_one_by_one(bytes(block), WORTH_COMPILING, prefix)
    assert walker.left


def test_marks_say_how_many_strings_were_left_where() -> None:
    prefix = PREFIXES[0]
    lengths = [n % 50 for n in range(WORTH_COMPILING)]
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + 8 + length)
    marks: list[tuple[int, int]] = []
    StringWalker(len(lengths), prefix).walk(written(lengths, prefix), 0, marks)
    assert len(marks) >= len(lengths) // GROUP
    assert all(starts[len(lengths) - left] == position for left, position in marks)
