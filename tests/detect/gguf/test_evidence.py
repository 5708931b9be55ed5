import pytest

from callgate.detect.gguf import Header, HeaderReader, facts_of, header_evidence
from callgate.detect.gguf.evidence import size_label
from callgate.vocabulary import Answer, Capabilities, Facts, Source
from tests.detect.gguf.writer import UINT32, Gguf, Tensor, Typed, small_model


def header_of(file: Gguf) -> Header:
    reader = HeaderReader()
    return reader.feed(file.to_bytes()) or reader.end()


def claims_of(file: Gguf) -> dict[str, object]:
    evidence = list(header_evidence(facts_of(header_of(file), "m", 7.0)))
    assert all((item.source, item.at) == (Source.HEADER, 7.0) for item in evidence)
    assert {item.claim for item in evidence} <= set(Capabilities.__struct_fields__)
    return {item.claim: item.answer for item in evidence}


def test_a_header_says_what_the_model_is() -> None:
    assert claims_of(small_model()) == {
        "architecture": "llama",
        "family": "llama",
        "context_length": 2048,
        "parameter_count": 6464,
        "parameter_size": "6.5K",
        "quantization": "Q4_K_M",
    }


def test_facts_carry_the_templates_and_the_special_tokens() -> None:
    facts = facts_of(header_of(small_model()), "m", 7.0)
    assert facts.name == "m"
    assert facts.templates == {"default": "{{ messages }}", "tool_use": "{{ tools }}"}
    assert facts.tokens == {"bos_token": "token 1", "eos_token": "token 99"}
    assert facts.header is not None
    assert facts.header["general.name"] == "Small"


def test_without_a_header_nothing_is_claimed() -> None:
    assert list(header_evidence(Facts(name="m"))) == []
    assert claims_of(Gguf()) == {}


def test_the_label_of_the_size_is_taken_before_the_count() -> None:
    claims = claims_of(Gguf({"general.size_label": "8x7B"}, [Tensor("a", (10,))]))
    assert (claims["parameter_size"], claims["parameter_count"]) == ("8x7B", 10)


@pytest.mark.parametrize(
    ("parameters", "label"),
    [(8_190_735_360, "8.2B"), (10_808_352, "10.8M"), (1_200_000_000_000, "1.2T"), (1500, "1.5K"), (12, "12")],
)
def test_a_count_is_said_in_short(parameters: int, label: str) -> None:
    assert size_label(parameters) == label


@pytest.mark.parametrize(("pooling", "answer"), [(1, Answer.YES), (2, Answer.YES), (3, Answer.YES), (4, Answer.YES)])
def test_a_pooling_type_makes_an_embedding_model(pooling: int, answer: Answer) -> None:
    pairs = {"general.architecture": "bert", "bert.pooling_type": pooling}
    assert claims_of(Gguf(pairs))["is_embedding"] is answer


@pytest.mark.parametrize("pooling", [0, 2**32 - 1])
def test_no_pooling_says_nothing_about_embedding(pooling: int) -> None:
    pairs = {"general.architecture": "llama", "llama.pooling_type": Typed(UINT32, pooling)}
    assert "is_embedding" not in claims_of(Gguf(pairs))


def test_encoders_for_pictures_and_sound_are_seen() -> None:
    pairs = {"general.architecture": "mllama", "mllama.vision.block_count": 32}
    assert claims_of(Gguf(pairs))["supports_vision"] is Answer.YES
    projector = {"general.architecture": "clip", "clip.has_vision_encoder": True, "clip.has_audio_encoder": True}
    claims = claims_of(Gguf(projector))
    assert (claims["supports_vision"], claims["supports_audio"]) == (Answer.YES, Answer.YES)
    assert "supports_vision" not in claims_of(Gguf({"clip.has_vision_encoder": False}))


def test_the_type_of_most_parameters_stands_in_for_a_missing_file_type() -> None:
    assert claims_of(Gguf({}, [Tensor("a", (10,), 12)]))["quantization"] == "Q4_K"


def test_a_file_cannot_speak_in_our_name() -> None:
    claims = claims_of(Gguf({"callgate.quantization": "F64", "general.file_type": 7}))
    assert claims["quantization"] == "Q8_0"
    assert "quantization" not in claims_of(Gguf({"callgate.quantization": "F64"}))


def test_of_a_later_shard_the_templates_cannot_be_seen() -> None:
    parts = {"split.no": 1, "split.count": 2}
    assert facts_of(header_of(Gguf(parts)), "m", 0.0).templates is None
    assert facts_of(header_of(Gguf({"split.no": 0, "split.count": 2})), "m", 0.0).templates == {}


def test_values_of_the_wrong_type_or_with_control_characters_claim_nothing() -> None:
    hostile = {"general.architecture": "ll\x1b[2Jama", "general.size_label": "x" * 500, "general.file_type": "Q8"}
    assert claims_of(Gguf(hostile)) == {}
    assert "context_length" not in claims_of(Gguf({"general.architecture": "a", "a.context_length": "much"}))
