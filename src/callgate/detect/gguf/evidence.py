"""What a GGUF header says about its model, as evidence."""

from __future__ import annotations

from collections.abc import Iterator

from callgate.detect.gguf.conclude import quantization_of
from callgate.detect.gguf.header import Header
from callgate.detect.hostile import number, word
from callgate.vocabulary import Answer, Evidence, Facts, Source

QUANTIZATION_KEY = "callgate.quantization"
"""Where `facts_of` puts what the tensors' types say, if the file doesn't name its quantisation itself."""

_POOLING = {1: "mean", 2: "cls", 3: "last", 4: "rank"}
"""Without 0, which is none: a model that generates."""


def facts_of(header: Header, name: str, at: float) -> Facts:
    """The facts that a header gives. Of a shard that isn't the first, nothing but its own keys can be seen."""
    metadata = dict(header.metadata)
    metadata.pop(QUANTIZATION_KEY, None)
    if header.quantization and quantization_of(header.metadata, {}) is None:
        metadata[QUANTIZATION_KEY] = header.quantization
    later_shard = header.shard is not None and header.shard.number > 0
    return Facts(
        name=name,
        templates=None if later_shard and not header.templates else header.templates,
        tokens=header.tokens,
        header=metadata,
        parameter_count=header.parameter_count,
        at=at,
    )


def header_evidence(facts: Facts) -> Iterator[Evidence]:
    """All that the header claims; nothing where there was none to see."""
    header = facts.header
    if header is None:
        return

    def found(claim: str, answer: Answer | int | str, detail: str) -> Evidence:
        return Evidence(claim, answer, Source.HEADER, detail, facts.at)

    architecture = word(header.get("general.architecture"))
    if architecture:
        yield found("architecture", architecture, f"general.architecture is {architecture!r}")
        yield found("family", architecture, f"general.architecture is {architecture!r}")
    context = number(header.get(f"{architecture}.context_length"))
    if context:
        yield found("context_length", context, f"{architecture}.context_length is {context}")
    pooling = number(header.get(f"{architecture}.pooling_type"))
    if pooling in _POOLING:
        yield found("is_embedding", Answer.YES, f"{architecture}.pooling_type is {_POOLING[pooling]}")
    for claim, kind in (("supports_vision", "vision"), ("supports_audio", "audio")):
        if number(header.get(f"{architecture}.{kind}.block_count")):
            yield found(claim, Answer.YES, f"{architecture}.{kind}.block_count is there")
        elif header.get(f"clip.has_{kind}_encoder") is True:
            yield found(claim, Answer.YES, f"clip.has_{kind}_encoder is true")
    count = facts.parameter_count
    if count:
        stated = number(header.get("general.parameter_count")) == count
        why = "general.parameter_count says so" if stated else f"its tensors have {count:,} elements"
        yield found("parameter_count", count, why)
    label = word(header.get("general.size_label"))
    if label:
        yield found("parameter_size", label, f"general.size_label is {label!r}")
    elif count:
        yield found("parameter_size", size_label(count), f"{count:,} parameters")
    quantization = quantization_of(header, {})
    if quantization:
        yield found("quantization", quantization, f"general.file_type is {header['general.file_type']}")
    elif quantization := word(header.get(QUANTIZATION_KEY)):
        yield found("quantization", quantization, "most parameters are of this type")


def size_label(parameters: int) -> str:
    """`8.2B` for 8,190,735,360."""
    for limit, unit in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K")):
        if parameters >= limit:
            return f"{parameters / limit:.1f}{unit}"
    return str(parameters)
