"""How the file is laid out: `{"version": 1, "user_models": [{"id": …}, …]}`. Bytes in, records out, and back.

What we don't know is kept as it was written, to the letter: other fields, other members, entries that are no objects.

The older layout, 0, is the bare list, or an object of entries by their ids in the place of the list. A newer one is
read as far as it goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from callgate.registry.keys import id_of, key_of, key_of_id
from callgate.registry.records import Entry, Fields, ModelRecord, changed, id_in, record_of
from callgate.vocabulary import ModelRef, UsageError

CURRENT = 1
LARGEST_FILE = 64 << 20
_BOM = b"\xef\xbb\xbf"
_MODELS, _VERSION = "user_models", "version"

_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_list = msgspec.json.Decoder(list[msgspec.Raw])


class Unreadable(Exception):
    """What is in the file is no registry."""


class Document(msgspec.Struct, frozen=True, dict=True):
    """All that is in the file."""

    items: Sequence[Entry | msgspec.Raw] = ()
    version: int = CURRENT
    around: Mapping[str, msgspec.Raw] = {}
    """The members of the file, with whatever is in the place of the models."""

    @classmethod
    def parse(cls, content: bytes) -> Document:
        """Raises: Unreadable."""
        content = content.removeprefix(_BOM)
        if len(content) > LARGEST_FILE:
            raise Unreadable(f"it is larger than {LARGEST_FILE >> 20} MB")
        try:
            content.decode()
            return cls._parse(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Unreadable(str(error)) from None

    @classmethod
    def _parse(cls, content: bytes) -> Document:
        try:
            around = _object.decode(content)
        except msgspec.ValidationError:
            return cls(tuple(_items(_list.decode(content))), version=0)
        version = _version_in(around)
        models = around.get(_MODELS)
        if models is None:
            return cls((), version, around)
        try:
            items = tuple(_items(_list.decode(models)))
        except msgspec.ValidationError:
            if version > CURRENT:
                return cls((), version, around)
            return cls(tuple(_by_id(_object.decode(models))), 0, around)
        return cls(items, version, around)

    def to_bytes(self) -> bytes:
        """In the current layout, for people to read."""
        whole: dict[str, object] = {} if _VERSION in self.around else {_VERSION: CURRENT}
        whole |= {**self.around, _MODELS: list(self.items)}
        whole[_VERSION] = CURRENT
        return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"

    @property
    def records(self) -> Iterator[ModelRecord]:
        for place in self._places.values():
            item = self.items[place]
            assert not isinstance(item, msgspec.Raw)
            if record := record_of(item):
                yield record

    def get(self, ref: ModelRef) -> ModelRecord | None:
        place = self._places.get(key_of(ref))
        item = None if place is None else self.items[place]
        return None if item is None or isinstance(item, msgspec.Raw) else record_of(item)

    def with_fields(self, ref: ModelRef, fields: Fields) -> Document:
        """Raises: UsageError, if the model's name can't be written."""
        items = list(self.items)
        place = self._places.get(key_of(ref))
        try:
            if place is None:
                if any(value is not None for value in fields.values()):
                    items.append(changed({"id": msgspec.Raw(msgspec.json.encode(id_of(ref)))}, fields))
            else:
                old = items[place]
                assert not isinstance(old, msgspec.Raw)
                items[place] = changed(old, fields)
        except UnicodeEncodeError:
            raise UsageError(f"{ref.name!r} isn't text, and can't be kept", hint="give the file another name") from None
        return Document(tuple(items), self.version, self.around)

    def without(self, ref: ModelRef) -> Document:
        """Without any entry of this model."""
        key = key_of(ref)
        items = [item for item in self.items if isinstance(item, msgspec.Raw) or _key(item) != key]
        return Document(tuple(items), self.version, self.around)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """Where each model's entry is; of several the last, as it is with the members of an object."""
        keys = ((None if isinstance(item, msgspec.Raw) else _key(item), at) for at, item in enumerate(self.items))
        return {key: at for key, at in keys if key}


def _key(entry: Entry) -> str | None:
    return key_of_id(id_in(entry) or "")


def _version_in(around: Mapping[str, msgspec.Raw]) -> int:
    """One that is no number is none of ours, and so a newer one."""
    if (raw := around.get(_VERSION)) is None:
        return CURRENT
    try:
        return msgspec.json.decode(raw, type=int)
    except msgspec.DecodeError:
        return CURRENT + 1


def _items(raws: Sequence[msgspec.Raw]) -> Iterator[Entry | msgspec.Raw]:
    for raw in raws:
        try:
            yield _object.decode(raw)
        except msgspec.ValidationError:
            yield raw


def _by_id(entries: Mapping[str, msgspec.Raw]) -> Iterator[Entry | msgspec.Raw]:
    for named, raw in entries.items():
        own = {"id": msgspec.Raw(msgspec.json.encode(named))}
        if bytes(raw) in (b"true", b"false"):
            yield {**own, "tool_support": raw}
            continue
        try:
            yield {**own, **_object.decode(raw)}
        except msgspec.ValidationError:
            yield raw
