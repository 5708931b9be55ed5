"""Writes small GGUF files, right ones and wrong ones, in every version and byte order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from struct import pack

from callgate.detect.gguf.layout import ARRAY, BOOL, SCALARS, STRING, ByteOrder

UINT8, UINT32, INT32, FLOAT32, UINT64 = 0, 4, 5, 6, 10


@dataclass(frozen=True)
class Typed:
    """A scalar of a chosen type; without it an int is written as uint32, a float as float32."""

    type: int
    value: int | float | bool


@dataclass(frozen=True)
class Items:
    """An array: its type, what it holds, and the count that it claims (the true one, if `None`)."""

    type: int
    values: Sequence[object]
    count: int | None = None


@dataclass(frozen=True)
class Tensor:
    name: str
    shape: tuple[int, ...]
    type: int = 0
    offset: int = 0


@dataclass(frozen=True)
class Raw:
    """A value's bytes as they are, its type included."""

    data: bytes


@dataclass(frozen=True)
class Gguf:
    pairs: Mapping[str, object] | Iterable[tuple[str, object]] = field(default_factory=dict)
    tensors: Sequence[Tensor] = ()
    version: int = 3
    order: ByteOrder = "little"
    key_count: int | None = None
    tensor_count: int | None = None

    def to_bytes(self) -> bytes:
        pairs = list(self.pairs.items() if isinstance(self.pairs, Mapping) else self.pairs)
        return b"".join(
            [
                b"GGUF",
                self._number("I", self.version),
                self.length(len(self.tensors) if self.tensor_count is None else self.tensor_count),
                self.length(len(pairs) if self.key_count is None else self.key_count),
                *(self.text(key) + self._value(value) for key, value in pairs),
                *(self._tensor(tensor) for tensor in self.tensors),
            ]
        )

    def length(self, value: int) -> bytes:
        return self._number("I" if self.version == 1 else "Q", value)

    def text(self, value: str | bytes) -> bytes:
        raw = value.encode() if isinstance(value, str) else value
        return self.length(len(raw)) + raw

    def type(self, value: int) -> bytes:
        return self._number("I", value)

    def _number(self, code: str, value: float) -> bytes:
        return pack(("<" if self.order == "little" else ">") + code, value)

    def _value(self, value: object) -> bytes:
        match value:
            case Raw(data):
                return data
            case Typed(kind, number):
                return self.type(kind) + self._number(SCALARS[kind], number)
            case Items(kind, values, count):
                parts = [self.type(ARRAY), self.type(kind), self.length(len(values) if count is None else count)]
                return b"".join([*parts, *(self._item(kind, item) for item in values)])
            case bool():
                return self.type(BOOL) + self._number("B", value)
            case int():
                return self.type(UINT32) + self._number("I", value)
            case float():
                return self.type(FLOAT32) + self._number("f", value)
            case str() | bytes():
                return self.type(STRING) + self.text(value)
            case list() | tuple():
                return self._value(Items(STRING if value and isinstance(value[0], str | bytes) else INT32, value))
        raise TypeError(f"no GGUF value: {value!r}")

    def _item(self, kind: int, item: object) -> bytes:
        if kind == STRING:
            assert isinstance(item, str | bytes)
            return self.text(item)
        if kind == ARRAY:
            return self._value(item)[4:]
        assert isinstance(item, int | float)
        return self._number(SCALARS[kind], item)

    def _tensor(self, tensor: Tensor) -> bytes:
        dims = b"".join(self.length(size) for size in tensor.shape)
        head = self.text(tensor.name) + self._number("I", len(tensor.shape))
        return head + dims + self.type(tensor.type) + self._number("Q", tensor.offset)


def small_model(version: int = 3, order: ByteOrder = "little") -> Gguf:
    """A model in little: every kind of value, a vocabulary, two templates, two tensors."""
    return Gguf(
        {
            "general.architecture": "llama",
            "general.name": "Small",
            "general.tags": ["chat", "tools"],
            "general.file_type": 15,
            "llama.context_length": 2048,
            "llama.rope.freq_base": 0.5,
            "general.signed": Typed(11, -5),
            "tokenizer.ggml.tokens": Items(STRING, [f"token {n}" for n in range(100)]),
            "tokenizer.ggml.scores": Items(FLOAT32, [float(n) for n in range(100)]),
            "tokenizer.ggml.bos_token_id": 1,
            "tokenizer.ggml.eos_token_id": 99,
            "tokenizer.ggml.add_bos_token": True,
            "tokenizer.chat_template": "{{ messages }}",
            "tokenizer.chat_template.tool_use": "{{ tools }}",
        },
        [Tensor("token_embd.weight", (64, 100), 12), Tensor("output_norm.weight", (64,), 0)],
        version,
        order,
    )
