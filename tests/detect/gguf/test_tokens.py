from hypothesis import given, settings
from hypothesis import strategies as st

from callgate.detect.gguf import HeaderReader
from callgate.detect.gguf.layout import MAX_KEPT_TOKENS, MAX_TEXT, STRING
from tests.detect.gguf.writer import Gguf, Items


def tokens_of(pairs: dict[str, object], block_size: int = 1 << 30) -> dict[str, str]:
    data = Gguf(pairs).to_bytes()
    reader = HeaderReader()
    for start in range(0, len(data), block_size):
        reader.feed(data[start : start + block_size])
    return dict(reader.end().tokens)


@settings(max_examples=30)
@given(st.integers(0, 29_999), st.integers(0, 29_999), st.integers(2_000, 100_000))
def test_special_tokens_are_found_by_their_ids_however_the_bytes_come(bos: int, eos: int, block_size: int) -> None:
    vocabulary = [f"<{n}>" + "é" * (n % 60) for n in range(30_000)]
    found = tokens_of(
        {
            "tokenizer.ggml.tokens": Items(STRING, vocabulary),
            "tokenizer.ggml.bos_token_id": bos,
            "tokenizer.ggml.eos_token_id": eos,
        },
        block_size,
    )
    assert found == {"bos_token": vocabulary[bos], "eos_token": vocabulary[eos]}


def test_ids_before_the_vocabulary_are_as_good() -> None:
    vocabulary = [f"t{n}" for n in range(100)]
    pairs = {
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.padding_token_id": 5,
        "tokenizer.ggml.tokens": vocabulary,
        "tokenizer.ggml.seperator_token_id": 98,
    }
    assert tokens_of(pairs) == {"unk_token": "t0", "pad_token": "t5", "sep_token": "t98"}


def test_ids_outside_the_vocabulary_name_nothing() -> None:
    vocabulary = Items(STRING, [f"t{n}" for n in range(100)])
    assert tokens_of({"tokenizer.ggml.tokens": vocabulary, "tokenizer.ggml.bos_token_id": 100}) == {}
    assert tokens_of({"tokenizer.ggml.bos_token_id": 0}) == {}


def test_a_token_of_absurd_length_is_left_out_and_those_around_it_are_found() -> None:
    vocabulary = Items(STRING, [*(f"t{n}" for n in range(99)), "x" * (2 * MAX_TEXT), "last"])
    ids = {"tokenizer.ggml.bos_token_id": 98, "tokenizer.ggml.eos_token_id": 99, "tokenizer.ggml.cls_token_id": 100}
    for block_size in (1 << 30, 5000):
        found = tokens_of({"tokenizer.ggml.tokens": vocabulary, **ids}, block_size)
        assert found == {"bos_token": "t98", "cls_token": "last"}


def test_a_vocabulary_too_large_to_hold_has_no_special_tokens() -> None:
    long = "x" * 60_000
    vocabulary = Items(STRING, [long] * (MAX_KEPT_TOKENS // len(long) + 1))
    for block_size in (1 << 30, 1 << 20):
        pairs: dict[str, object] = {"tokenizer.ggml.tokens": vocabulary, "tokenizer.ggml.bos_token_id": 1}
        assert tokens_of(pairs, block_size) == {}
