"""The special tokens' texts: the ids come after the vocabulary, so the vocabulary is held back until then."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from operator import itemgetter
from struct import Struct

from callgate.detect.gguf.layout import MAX_KEPT_TOKENS, MAX_TEXT
from callgate.detect.gguf.strings import StringWalker

_SPECIAL = {
    "bos_token": "tokenizer.ggml.bos_token_id",
    "eos_token": "tokenizer.ggml.eos_token_id",
    "unk_token": "tokenizer.ggml.unknown_token_id",
    "pad_token": "tokenizer.ggml.padding_token_id",
    "sep_token": "tokenizer.ggml.seperator_token_id",  # sic: the format's own spelling
    "cls_token": "tokenizer.ggml.cls_token_id",
    "mask_token": "tokenizer.ggml.mask_token_id",
}


class TokenTable:
    """The vocabulary's bytes as they are in the file, with a mark at every few dozen tokens to start counting from."""

    def __init__(self, count: int, prefix: Struct) -> None:
        self._count = count
        self._prefix = prefix
        self._size = 0
        self._marks: list[tuple[int, int, bytes]] = []

    def add(self, size: int, block: bytes = b"", marks: Iterable[tuple[int, int]] = ()) -> None:
        """The next `size` bytes of the vocabulary are in `block`, with the marks that a walk over them left.

        A token that is too long to be one was passed over: it has no block.
        """
        self._size += size
        if self._size > MAX_KEPT_TOKENS:
            self._marks.clear()
        else:
            self._marks.extend([(self._count - left, position, block) for left, position in marks])

    def special(self, metadata: Mapping[str, object]) -> dict[str, str]:
        """Texts by the names that templates have for them; empty if the vocabulary was too large to hold."""
        found = {}
        for name, key in _SPECIAL.items():
            token = metadata.get(key)
            if type(token) is int and 0 <= token < self._count and (text := self._text(token)) is not None:
                found[name] = text
        return found

    def _text(self, token: int) -> str | None:
        # Where a block ended within a token, two marks stand for it: the next block has it whole.
        mark = bisect_right(self._marks, token, key=itemgetter(0)) - 1
        if mark < 0:
            return None
        first, start, block = self._marks[mark]
        walker = StringWalker(token - first, self._prefix)
        start = walker.walk(block, start)
        if walker.left or start + self._prefix.size > len(block):
            return None
        (length,) = self._prefix.unpack_from(block, start)
        start += self._prefix.size
        if length > MAX_TEXT or start + length > len(block):
            return None
        return str(block[start : start + length], "utf-8", "replace")
