from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gate.recovery.source import Source
from callgate.gate.recovery.values import LONGEST_KEY, Scan, read_value
from tests.gate.recovery.reading import cut

KEYS = frozenset({"name", "arguments"})
texts = st.lists(
    st.sampled_from([*"{}[]()\"'\\<,: \na", '"name"', '"other"', "'arguments'", '{"name": ', "k" * (LONGEST_KEY + 1)]),
    max_size=14,
).map(lambda parts: "{" + "".join(parts))


def scanned(chunks: Sequence[str], scan: Scan) -> tuple[str, bool]:
    """What a scan takes for the value, and whether it is over then."""
    passed = ""
    for chunk in chunks:
        at = scan.run(chunk, 0)
        passed += chunk[:at]
        if at < len(chunk) or scan.over:
            break
    return passed, scan.over


@given(texts, st.booleans(), st.booleans(), st.sampled_from([None, KEYS]), st.integers(1, 5))
def test_where_a_value_ends_follows_from_the_text_alone(
    text: str, loose: bool, rounds: bool, keys: frozenset[str] | None, size: int
) -> None:
    def new() -> Scan:
        return Scan(loose=loose, rounds=rounds, keys=keys)

    assert scanned(cut(text, size), new()) == scanned([text], new())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, "}"]} b', '{"a": [1, "}"]}'),
        (r'{"a": "\"}"}}', r'{"a": "\"}"}'),
        ("{'a': '}'} b", "{'a': '}'}"),
        ("{a: it's}'}", "{a: it's}"),
        ("{a: [1}]", "{a: [1}"),
        ("{(, (} b", "{(, (}"),
        ('{"a": 1 <end>', '{"a": 1 '),
        ('{"a": "<end>"} b', '{"a": "<end>"}'),
        ('{"a": "b', '{"a": "b'),
        ("(1)", ""),
        ("[" * 201, ""),
    ],
)
def test_a_value_ends_where_its_brackets_do(text: str, value: str) -> None:
    for size in (1, 2, 100):
        assert after(cut(text, size)) == value


def test_loosely_a_quote_ends_a_string_only_before_what_can_follow_one() -> None:
    for size in (1, 2, 100):
        assert after(cut('{"a": "say "hi" } there" , "b": 1} c', size), loose=True) == '{"a": "say "hi" }'
        assert after(cut('{"a": "say "hi} now" there" }', size), loose=True) == '{"a": "say "hi} now" there" }'


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ('{"name": 1, "other": 2}', '{"name": 1, "other"'),
        ('{"name": {"other": 1}, "arguments": ["other"]}', '{"name": {"other": 1}, "arguments": ["other"]}'),
        ('[{"name": 1}, {"other": 2}]', '[{"name": 1}, {"other"'),
        (f'{{"{"n" * 40}": 1}}', f'{{"{"n" * 33}'),
        (r'{"n\u0061me": 1}', r'{"n\u0061me": 1}'),
    ],
)
def test_a_key_that_nobody_wants_ends_it(text: str, passed: str) -> None:
    for size in (1, 3, 100):
        assert scanned(cut(text, size), Scan(keys=KEYS)) == (passed, True)


def test_a_key_without_an_end_is_not_copied_each_time() -> None:
    scan = Scan(keys=KEYS)
    scan.run('{"', 0)
    assert scan.run("n" * 1_000_000, 0) == LONGEST_KEY + 1


def after(chunks: Sequence[str], *, loose: bool = False) -> str:
    """What `read_value` reads, woken only where it has to be."""
    source = Source()
    reading = read_value(source, loose=loose)
    try:
        for chunk in chunks:
            if not source.passes(chunk, 1_000_000):
                next(reading)
        source.ended = True
        next(reading)
    except StopIteration as done:
        value: str = done.value
        return value
    raise AssertionError("it waits for more than there is")
