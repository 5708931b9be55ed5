import pytest

from tests.gate.recovery.plain_texts import everyday_tools, plain_texts
from tests.gate.recovery.reading import calls_in, cut


@pytest.mark.parametrize("seed", range(4))
def test_no_plain_text_has_a_call_in_it(seed: int) -> None:
    tools = everyday_tools()
    for text in plain_texts(150, seed):
        assert calls_in(text, tools) == [], text


def test_nor_has_one_that_comes_in_pieces() -> None:
    tools = everyday_tools()
    for text in plain_texts(60, seed=99):
        assert calls_in(cut(text, 5), tools) == [], text
