from __future__ import annotations

import math
from array import array
from base64 import b64decode

from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.writing.vectors import packed, shortened

VECTORS = st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=20)


@given(VECTORS, st.integers(1, 25))
def test_a_shorter_vector_points_the_same_way_as_far_as_it_goes(vector: list[float], dimensions: int) -> None:
    short = shortened(vector, dimensions)
    if dimensions >= len(vector):
        assert short == vector
        return
    assert len(short) == dimensions
    length = math.hypot(*vector[:dimensions])
    assert math.isclose(math.hypot(*short), 1 if length else 0, rel_tol=1e-6)
    pairs = zip(short, vector[:dimensions], strict=True)
    assert all(math.isclose(new * length, old, rel_tol=1e-6, abs_tol=1e-9) for new, old in pairs)


def test_nobody_who_wants_the_whole_gets_less() -> None:
    assert shortened([3.0, 4.0], None) == [3.0, 4.0]


@given(VECTORS)
def test_what_is_packed_is_still_in_it(vector: list[float]) -> None:
    numbers = array("f")
    numbers.frombytes(b64decode(packed(vector)))
    assert numbers.tolist() == vector
