import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgate.detect.gguf import Header, HeaderReader, Shard, Skipped
from callgate.detect.gguf.layout import ARRAY, STRING, ByteOrder
from callgate.vocabulary import HeaderError
from tests.detect.gguf.writer import FLOAT32, INT32, UINT8, UINT64, Gguf, Items, Raw, Tensor, Typed, small_model

ORDERS: tuple[ByteOrder, ByteOrder] = ("little", "big")
EVERY_FORM = [(version, order) for version in (1, 2, 3) for order in ORDERS]


def parse(data: bytes, size: int | None = None) -> Header:
    reader = HeaderReader("'x.gguf'", size)
    return reader.feed(data) or reader.end()


def parse_in(blocks: Iterable[bytes]) -> Header:
    reader = HeaderReader()
    for block in blocks:
        if header := reader.feed(block):
            return header
    return reader.end()


def refusal(file: Gguf | bytes, *, size_known: bool = False) -> str:
    data = file if isinstance(file, bytes) else file.to_bytes()
    with pytest.raises(HeaderError) as caught:
        parse(data, len(data) if size_known else None)
    return str(caught.value)


@pytest.mark.parametrize(("version", "order"), EVERY_FORM)
def test_every_version_and_byte_order_is_read(version: int, order: ByteOrder) -> None:
    data = small_model(version, order).to_bytes()
    header = parse(data + b"weights", len(data) + 7)
    assert header == Header(
        version=version,
        byte_order=order,
        metadata={
            "general.architecture": "llama",
            "general.name": "Small",
            "general.tags": ("chat", "tools"),
            "general.file_type": 15,
            "llama.context_length": 2048,
            "llama.rope.freq_base": 0.5,
            "general.signed": -5,
            "tokenizer.ggml.tokens": Skipped("string", 100),
            "tokenizer.ggml.scores": Skipped("float32", 100),
            "tokenizer.ggml.bos_token_id": 1,
            "tokenizer.ggml.eos_token_id": 99,
            "tokenizer.ggml.add_bos_token": True,
            "tokenizer.chat_template": "{{ messages }}",
            "tokenizer.chat_template.tool_use": "{{ tools }}",
        },
        templates={"default": "{{ messages }}", "tool_use": "{{ tools }}"},
        tokens={"bos_token": "token 1", "eos_token": "token 99"},
        tensor_count=2,
        parameter_count=6464,
        quantization="Q4_K_M",
        shard=None,
        header_bytes=len(data),
    )


@pytest.mark.parametrize(("version", "order"), EVERY_FORM)
def test_a_file_cut_at_any_byte_is_refused_with_and_without_its_size_known(version: int, order: ByteOrder) -> None:
    data = small_model(version, order).to_bytes()
    for end in range(len(data)):
        for size in (None, end):
            with pytest.raises(HeaderError):
                parse(data[:end], size)


@given(st.data(), st.sampled_from(EVERY_FORM))
def test_any_chunking_gives_the_same_header(data: st.DataObject, form: tuple[int, ByteOrder]) -> None:
    raw = small_model(*form).to_bytes()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=20)))
    blocks = [raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert parse_in(blocks) == parse(raw)


def test_one_byte_at_a_time_gives_the_same_header() -> None:
    raw = small_model().to_bytes()
    assert parse_in(raw[n : n + 1] for n in range(len(raw))) == parse(raw)


KEYS = st.text(min_size=1, max_size=30).filter(lambda key: not key.startswith(("tokenizer.", "general.", "split.")))
SMALL_VALUES = st.one_of(
    st.booleans(),
    st.text(max_size=200),
    st.integers(0, 2**32 - 1),
    st.floats(width=32, allow_nan=False),
    st.lists(st.text(max_size=10), min_size=1, max_size=64),
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=64),
)


@given(st.dictionaries(KEYS, SMALL_VALUES, max_size=8), st.sampled_from(EVERY_FORM), st.integers(1, 50))
def test_what_is_written_is_what_is_read(
    pairs: dict[str, object], form: tuple[int, ByteOrder], block_size: int
) -> None:
    raw = Gguf(pairs, (), *form).to_bytes()
    header = parse_in(raw[n : n + block_size] for n in range(0, len(raw), block_size))
    assert dict(header.metadata) == {k: tuple(v) if isinstance(v, list) else v for k, v in pairs.items()}
    assert header.header_bytes == len(raw)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_header_or_refused(data: bytes) -> None:
    for start in (b"", b"GGUF", b"GGUF\x03\0\0\0", b"GGUF\0\0\0\x03"):
        with pytest.raises(HeaderError):
            parse(start + data + b"\xff" * 64)


def test_thousands_of_mutations_are_read_or_refused_and_nothing_else() -> None:
    chance = random.Random(20)
    refused = 0
    originals = [small_model(*form).to_bytes() for form in EVERY_FORM]
    for turn in range(6000):
        data = bytearray(originals[turn % len(originals)])
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(data))
            match chance.randrange(4):
                case 0:
                    data[place] = chance.randrange(256)
                case 1:
                    data[place : place + 8] = chance.choice((b"\xff" * 8, bytes(8), b"\xff" * 4 + bytes(4)))
                case 2:
                    del data[place : place + chance.randint(1, 30)]
                case _:
                    data[place:place] = chance.randbytes(chance.randint(1, 30))
        try:
            parse(bytes(data), len(data) if turn % 2 else None)
        except HeaderError:
            refused += 1
    assert 1000 < refused < 6000


@pytest.mark.parametrize("count", [2**63, 2**64 - 1, 2**40, 2**24])
@pytest.mark.parametrize("kind", [STRING, UINT8, UINT64, ARRAY])
def test_an_array_that_lies_about_its_count_is_refused(kind: int, count: int) -> None:
    file = Gguf({"lying": Items(kind, [], count)})
    assert "'lying'" in refusal(file)
    assert "'lying'" in refusal(file, size_known=True)


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**32])
def test_a_text_that_lies_about_its_length_is_refused(length: int) -> None:
    lie = Raw(Gguf().type(STRING) + Gguf().length(length) + b"short")
    assert "the value of 'lying' takes" in refusal(Gguf({"lying": lie}), size_known=True)
    assert "the value of 'lying' takes" in refusal(Gguf({"lying": lie}))


def test_lying_counts_of_keys_and_tensors_are_refused() -> None:
    assert "claims 9,223,372,036,854,775,808 keys" in refusal(Gguf(key_count=2**63))
    assert "claims 9,223,372,036,854,775,808 tensors" in refusal(Gguf(tensor_count=2**63))
    assert "in the middle of the name of key 2" in refusal(Gguf({"one": 1}, key_count=2))
    assert "in the middle of tensor 1 of 5" in refusal(Gguf({"one": 1}, tensor_count=5))


def test_a_vocabulary_with_a_lying_length_in_the_middle_is_refused() -> None:
    words = b"".join(Gguf().text(f"w{n}") for n in range(30_000))
    liar = Gguf().length(2**62) + b"x"
    start = Gguf().type(ARRAY) + Gguf().type(STRING) + Gguf().length(40_000)
    assert "'tokenizer.ggml.tokens' takes" in refusal(Gguf({"tokenizer.ggml.tokens": Raw(start + words + liar)}))


def test_arrays_nested_without_end_are_refused() -> None:
    bomb = (Gguf().type(ARRAY) + Gguf().length(1)) * 10_000
    assert "arrays within an array" in refusal(Gguf({"bomb": Raw(Gguf().type(ARRAY) + bomb)}))
    wide = Items(ARRAY, [Items(ARRAY, [Items(UINT8, [])] * 100)] * 100)
    assert "arrays within an array" in refusal(Gguf({"bomb": wide}))


def test_arrays_in_arrays_are_passed_over() -> None:
    nested = Items(ARRAY, [Items(INT32, [1, 2]), Items(STRING, ["a", "b"]), Items(ARRAY, [Items(UINT8, [1])])])
    header = parse(Gguf({"nested": nested, "after": 7}).to_bytes())
    assert header.metadata == {"nested": Skipped("array", 3), "after": 7}


def test_a_key_that_comes_twice_is_refused() -> None:
    assert "has the key 'a' twice" in refusal(Gguf([("a", 1), ("a", 2)]))


def test_keys_without_a_name_or_that_are_no_text_or_endless_are_refused() -> None:
    assert "the name of key 1 claims 0 bytes" in refusal(Gguf({"": 1}))
    assert "the name of key 1 claims 65,536 bytes" in refusal(Gguf({"k" * 65_536: 1}))
    broken = Gguf({"ab": 1}).to_bytes().replace(b"ab", b"\xff\xfe")
    assert "the name of key 1 isn't UTF-8" in refusal(broken)


def test_types_that_do_not_exist_and_impossible_bools_are_refused() -> None:
    assert "the value of 'k' is of type 77" in refusal(Gguf({"k": Raw(Gguf().type(77))}))
    assert "the value of 'k' is of type 77" in refusal(Gguf({"k": Items(77, [], 5)}))
    assert "neither true nor false but 2" in refusal(Gguf({"k": Typed(7, 2)}))


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"<!DOCTYPE html><html>", "a web page, not a GGUF file"),
        (b"\n\n<html lang='en'>", "a web page, not a GGUF file"),
        (b'{"error":"Invalid credentials"}', "JSON, not a GGUF file"),
        (b"version https://git-lfs.github.com/spec/v1", "a Git LFS pointer"),
        (b"tjgg\x03\0\0\0 an old llama", "from before GGUF"),
        (b"lmgg an older one", "from before GGUF"),
        (b"GGML spelled out", "from before GGUF"),
        (b"PK\x03\x04 pytorch_model.bin", "a zip archive"),
        (b"RIFF wave", r"starts with b'RIFF'"),
    ],
)
def test_what_is_taken_for_a_gguf_file_is_called_by_its_name(start: bytes, words: str) -> None:
    assert words in refusal(start)


def test_unknown_versions_are_refused() -> None:
    assert "GGUF of version 4" in refusal(b"GGUF" + bytes([4, 0, 0, 0]) + bytes(100))
    assert "GGUF of version 0" in refusal(b"GGUF" + bytes(100))


def test_an_empty_file_is_called_empty() -> None:
    assert refusal(b"") == "'x.gguf' is empty"


def test_a_template_that_is_no_text_is_refused() -> None:
    assert "'tokenizer.chat_template' should be a text" in refusal(Gguf({"tokenizer.chat_template": 5}))
    assert "should be a text" in refusal(Gguf({"tokenizer.chat_template.rag": ["a", "b"]}))


def test_the_template_without_a_name_is_the_default_whatever_the_others_are_called() -> None:
    both = {"tokenizer.chat_template": "plain", "tokenizer.chat_template.default": "named"}
    assert parse(Gguf(both).to_bytes()).templates == {"default": "plain"}
    assert parse(Gguf(list(both.items())[::-1]).to_bytes()).templates == {"default": "plain"}
    only_named = {"tokenizer.chat_template.default": "named", "tokenizer.chat_templates": ["default"]}
    assert parse(Gguf(only_named).to_bytes()).templates == {"default": "named"}


def test_the_template_is_not_looked_for_in_other_values() -> None:
    disguise = Gguf({"tokenizer.chat_template": "fake"}).to_bytes()[24:]
    pairs = {"tokenizer.ggml.tokens": Items(STRING, [disguise] * 100), "general.name": disguise}
    assert parse(Gguf(pairs).to_bytes()).templates == {}


def test_a_long_template_is_kept_and_other_long_texts_are_passed_over() -> None:
    long = "x" * 200_000
    header = parse(Gguf({"tokenizer.chat_template": long, "tokenizer.huggingface.json": long, "z": 1}).to_bytes())
    assert header.templates == {"default": long}
    assert header.metadata["tokenizer.huggingface.json"] == Skipped("string", 200_000)
    assert header.metadata["z"] == 1


def test_templates_beyond_all_measure_are_refused() -> None:
    pairs = {f"tokenizer.chat_template.{n}": "x" * (6 << 20) for n in range(3)}
    assert "makes the metadata larger than" in refusal(Gguf(pairs))


def test_texts_that_are_not_utf8_are_read_with_replacements() -> None:
    assert parse(Gguf({"general.name": b"caf\xe9"}).to_bytes()).metadata["general.name"] == "caf\ufffd"


def test_parameters_are_counted_from_the_shapes_unless_the_file_says_how_many() -> None:
    tensors = [Tensor("a", (10, 20), 8), Tensor("b", (30,), 0), Tensor("scalar", (), 0)]
    assert parse(Gguf({}, tensors).to_bytes()).parameter_count == 231
    said = {"general.parameter_count": Typed(UINT64, 8_000_000_000)}
    assert parse(Gguf(said, tensors).to_bytes()).parameter_count == 8_000_000_000
    assert parse(Gguf().to_bytes()).parameter_count is None


@pytest.mark.parametrize("shape", [(2**32, 2**32), (2**63,), (2**64 - 1,) * 8])
def test_shapes_that_overflow_are_refused(shape: tuple[int, ...]) -> None:
    assert "more than can be counted" in refusal(Gguf({}, [Tensor("a", shape)]))


def test_shapes_that_overflow_only_together_are_refused() -> None:
    assert "tensor 2 of 2 claims the shape" in refusal(Gguf({}, [Tensor("a", (2**62,)), Tensor("b", (2**62,))]))


def test_too_many_dimensions_and_endless_names_are_refused() -> None:
    assert "tensor 1 of 1 claims 9 dimensions" in refusal(Gguf({}, [Tensor("a", (1,) * 9)]))
    assert "claims a name of 5,000 bytes" in refusal(Gguf({}, [Tensor("a" * 5000, (1,))]))


@pytest.mark.parametrize(
    ("file_type", "name"), [(0, "F32"), (1, "F16"), (7, "Q8_0"), (15, "Q4_K_M"), (32, "BF16"), (1024 + 18, "Q6_K")]
)
def test_the_file_type_names_the_quantisation(file_type: int, name: str) -> None:
    assert parse(Gguf({"general.file_type": file_type}).to_bytes()).quantization == name


def test_without_a_file_type_most_elements_decide() -> None:
    tensors = [Tensor("norm", (10,), 0), Tensor("big", (100, 100), 12), Tensor("out", (100, 10), 14)]
    assert parse(Gguf({}, tensors).to_bytes()).quantization == "Q4_K"
    assert parse(Gguf({"general.file_type": 999}, tensors).to_bytes()).quantization == "Q4_K"
    assert parse(Gguf({}, [Tensor("new", (5,), 12345)]).to_bytes()).quantization is None


def test_a_shard_is_recognised_and_its_parameters_are_not_taken_for_the_models() -> None:
    pairs = {"split.no": Typed(2, 1), "split.count": Typed(2, 3), "split.tensors.count": Typed(INT32, 9)}
    header = parse(Gguf(pairs, [Tensor("a", (10,))]).to_bytes())
    assert header.shard == Shard(1, 3)
    assert header.parameter_count is None
    assert parse(Gguf({"split.count": Typed(2, 1)}).to_bytes()).shard is None


def test_a_bool_is_no_number() -> None:
    pairs = {"general.file_type": True, "tokenizer.ggml.tokens": ["a", "b"], "tokenizer.ggml.bos_token_id": True}
    header = parse(Gguf(pairs).to_bytes())
    assert header.quantization is None
    assert header.tokens == {}


def test_bytes_after_the_header_and_empty_blocks_do_no_harm() -> None:
    reader = HeaderReader()
    assert reader.feed(b"") is None
    header = reader.feed(small_model().to_bytes() + b"weights")
    assert header is not None
    assert reader.feed(b"more") is header
    assert reader.end() is header


@settings(max_examples=20)
@given(st.binary(min_size=1), st.integers(1, 100))
def test_floats_of_any_bits_are_read(raw: bytes, count: int) -> None:
    values = Raw(Gguf().type(ARRAY) + Gguf().type(FLOAT32) + Gguf().length(count) + (raw * 400)[: 4 * count])
    if len(raw) * 400 >= 4 * count:
        header = parse(Gguf({"floats": values, "after": 1}).to_bytes())
        assert header.metadata["after"] == 1
