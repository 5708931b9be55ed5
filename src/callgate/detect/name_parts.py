"""Takes a model's name apart: what it is called, how large it is, how it was quantised.

`hf.co/bartowski/Qwen2.5-7B-Instruct-GGUF:Q4_K_M` is `qwen2.5-instruct-gguf`, 7B, Q4_K_M. Hosts, owners and folders
don't count.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

_LONGEST = 256
"""Of a name's last part. Nobody's model is called anything longer."""

_ENDING = re.compile(r"(?:-\d{5}-of-\d{5})?\.gguf\Z")
_SIZE = re.compile(
    r"(?<![a-z0-9.])(?:"
    r"(?P<experts>\d{1,3}x)?(?P<effective>e?)(?P<large>\d{1,4}(?:\.\d{1,3})?)(?P<unit>[bt])(?:-?(?P<active>a\d{1,3}(?:\.\d)?b))?"
    r"|(?P<millions>\d{2,4})m"  # one digit would be a context: Qwen2.5-7B-Instruct-1M
    r")(?![a-z0-9])"
)
_QUANTIZATION = re.compile(
    r"(?<![a-z0-9])(?:(?:ud-)?(?:"
    r"iq[1-4]_(?:xxs|xs|s|m|nl|xl)|q[2-8]_k(?:_(?:xxs|xs|s|m|l|xl|xxl))?|q[1-8]_[01](?:_\d_\d)?|tq[12]_0|q[2-8]"
    r")|mxfp[48](?:_moe)?|nvfp4|bf16|fp?16|fp?32|fp8|int[48]|[2-8]-?bit|awq|gptq)(?![a-z0-9_])"
)
_VERSION_APART = re.compile(r"(?<=[a-z])-(?=[1-9]\d?(?!\d))")
"""`llama-3.1` is `llama3.1`; a year or a month (`mistral-large-2411`, `command-r-08-2024`) stays apart."""


class NameParts(msgspec.Struct, frozen=True):
    model: str
    """In lower case, with `-` between words and none before a version; sizes and quantisation cut out."""
    tokens: frozenset[str]
    """The words of the name and the tag."""
    size: str | None
    """As people write it: `8B`, `135M`, `8x7B`, `30B-A3B`."""
    billions: float | None
    quantization: str | None


@lru_cache(maxsize=1024)
def split_name(name: str) -> NameParts:
    last = re.split(r"[/\\]", name[-4 * _LONGEST :])[-1].strip().lower()
    if len(last) > _LONGEST:
        return NameParts("", frozenset(), None, None, None)
    stem, _, tag = last.partition(":")
    if not tag:
        stem, _, tag = last.partition("@")
    stem = _ENDING.sub("", stem)
    size, billions = _size(stem) or _size(tag) or (None, None)
    quantization = _QUANTIZATION.search(tag) or _QUANTIZATION.search(stem)
    stem = _QUANTIZATION.sub("-", stem)
    bare = re.sub(r"[-_\s]+", "-", _SIZE.sub("-", stem)).strip("-.")
    return NameParts(
        model=_VERSION_APART.sub("", bare),
        tokens=frozenset(token.strip(".") for token in re.split(r"[-_\s]", f"{stem}-{tag}")),
        size=size,
        billions=billions,
        quantization=_spelled(quantization[0]) if quantization else None,
    )


def _size(text: str) -> tuple[str, float] | None:
    match = _SIZE.search(text)
    if match is None:
        return None
    if match["millions"]:
        return f"{match['millions']}M", int(match["millions"]) / 1000
    billions = float(match["large"]) * (1000 if match["unit"] == "t" else 1)
    if match["experts"]:
        billions *= int(match["experts"][:-1])
    active = f"-{match['active'].upper()}" if match["active"] else ""
    text = f"{match['experts'] or ''}{match['effective'].upper()}{match['large']}{match['unit'].upper()}{active}"
    return text, billions


def _spelled(quantization: str) -> str:
    """As llama.cpp and Ollama spell it: `Q4_K_M`, `F16`."""
    if quantization.endswith("bit"):
        return quantization.replace("-", "")
    return {"fp16": "F16", "fp32": "F32"}.get(quantization, quantization.upper())
