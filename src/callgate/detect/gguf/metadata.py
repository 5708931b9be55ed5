"""The key-value pairs: small values are kept, bulk is passed over as it comes in."""

from __future__ import annotations

from struct import Struct

from callgate.detect.gguf import layout
from callgate.detect.gguf.header import Scalar, Skipped, Value
from callgate.detect.gguf.stream import Steps, Stream
from callgate.detect.gguf.strings import StringWalker
from callgate.detect.gguf.tokens import TokenTable

_OBJECT = 32  # bytes; what a small value costs in memory


class Metadata:
    """The key-value pairs, and the vocabulary's bytes."""

    def __init__(self, stream: Stream, endian: str, length: Struct) -> None:
        self.pairs: dict[str, Value] = {}
        self.table: TokenTable | None = None
        self._stream = stream
        self._length = length
        self._type = Struct(endian + "I")
        self._scalars = {kind: Struct(endian + code) for kind, code in layout.SCALARS.items()}
        self._kept = 0
        self._strings = 0
        self._inner_arrays = 0

    def read_pair(self, number: int) -> Steps[None]:
        stream = self._stream
        stream.doing = f"the name of key {number}"
        size: int = yield from stream.take(self._length)
        if not 0 < size <= layout.MAX_KEY:
            raise stream.corrupt(f"{stream.doing} claims {size:,} bytes, and 1 to {layout.MAX_KEY:,} are possible")
        self._keep(size)
        name = yield from stream.take_bytes(size)
        try:
            key = name.decode()
        except UnicodeDecodeError:
            raise stream.corrupt(f"{stream.doing} isn't UTF-8: {_short(name)}") from None
        if key in self.pairs:
            raise stream.corrupt(f"it has the key {_short(key)} twice")
        stream.doing = f"the value of {_short(key)}"
        kind: int = yield from stream.take(self._type)
        if kind == layout.STRING:
            self.pairs[key] = yield from self._text(whole=key.startswith(layout.TEMPLATE_KEY))
        elif kind == layout.ARRAY:
            self.pairs[key] = yield from self._array(key)
        else:
            self.pairs[key] = yield from self._scalar(kind)

    def _scalar(self, kind: int) -> Steps[Scalar]:
        value: int | float = yield from self._stream.take(self._scalar_struct(kind))
        if kind != layout.BOOL:
            return value
        if value not in (0, 1):
            raise self._stream.corrupt(f"{self._stream.doing} is neither true nor false but {value}")
        return bool(value)

    def _text(self, *, whole: bool = False) -> Steps[str | Skipped]:
        stream = self._stream
        size: int = yield from stream.take(self._length)
        stream.check(size)
        if size > layout.MAX_TEXT and not whole:
            yield from stream.skip(size)
            return Skipped("string", size)
        self._keep(size)
        raw = yield from stream.take_bytes(size)
        return str(raw, "utf-8", "replace")

    def _array(self, key: str, depth: int = 1) -> Steps[Value]:
        stream = self._stream
        kind: int = yield from stream.take(self._type)
        count: int = yield from stream.take(self._length)
        if kind == layout.STRING:
            stream.check(count * self._length.size)
            if count <= layout.MAX_ITEMS and depth == 1:
                return (yield from self._short_texts(count))
            yield from self._skip_strings(count, keep=key == layout.TOKENS_KEY and depth == 1)
        elif kind == layout.ARRAY:
            yield from self._skip_arrays(key, count, depth)
        else:
            scalar = self._scalar_struct(kind)
            stream.check(count * scalar.size)
            if count <= layout.MAX_ITEMS and depth == 1:
                return (yield from self._short_scalars(kind, count))
            yield from stream.skip(count * scalar.size)
        return Skipped(layout.TYPE_NAMES[kind], count)

    def _short_texts(self, count: int) -> Steps[Value]:
        items = []
        for _ in range(count):
            self._keep(_OBJECT)
            items.append((yield from self._text()))
        return tuple(items)

    def _short_scalars(self, kind: int, count: int) -> Steps[Value]:
        items = []
        for _ in range(count):
            self._keep(_OBJECT)
            items.append((yield from self._scalar(kind)))
        return tuple(items)

    def _skip_arrays(self, key: str, count: int, depth: int) -> Steps[None]:
        self._inner_arrays += count
        if depth == layout.MAX_DEPTH or self._inner_arrays > layout.MAX_INNER_ARRAYS:
            raise self._stream.corrupt(f"{self._stream.doing} has {count:,} arrays within an array, nested too often")
        for _ in range(count):
            yield from self._array(key, depth + 1)

    def _skip_strings(self, count: int, *, keep: bool) -> Steps[None]:
        stream = self._stream
        self._strings += count
        if self._strings > layout.MAX_STRINGS:
            raise stream.corrupt(
                f"{stream.doing} has {count:,} strings, and no model has more than {layout.MAX_STRINGS:,}"
            )
        walker = StringWalker(count, self._length)
        table = TokenTable(count, self._length) if keep else None
        while True:
            start = stream.position
            marks: list[tuple[int, int]] | None = [] if table else None
            stream.position = walker.walk(stream.block, start, marks)
            if table and marks:
                table.add(stream.position - start, stream.block, marks)
            if not walker.left:
                break
            # The next string isn't whole in this block.
            yield from stream.need(self._length.size)
            size: int = self._length.size + self._length.unpack_from(stream.block, stream.position)[0]
            if size <= layout.MAX_TEXT:
                yield from stream.need(size)
                continue
            yield from stream.skip(size)
            walker.left -= 1
            if table:
                table.add(size)
        if table:
            self.table = table

    def _scalar_struct(self, kind: int) -> Struct:
        if kind not in self._scalars:
            raise self._stream.corrupt(f"{self._stream.doing} is of type {kind:,}, which doesn't exist")
        return self._scalars[kind]

    def _keep(self, size: int) -> None:
        self._kept += size
        if self._kept > layout.MAX_KEPT:
            raise self._stream.corrupt(f"{self._stream.doing} makes the metadata larger than {layout.MAX_KEPT:,} bytes")


def _short(name: str | bytes) -> str:
    return repr(name) if len(name) <= 80 else f"{name[:80]!r}…"
