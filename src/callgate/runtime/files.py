"""Looks at what lies on disk: GGUF files, chat templates, tokenizer configurations, folders of these."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from callgate.detect import facts_of, read_header
from callgate.vocabulary import Facts, NotFound, TemplateError, UsageError

TEMPLATE_ENDINGS = (".jinja", ".jinja2", ".j2")
LARGEST_TEXT = 10 << 20
"""Bytes of a template or a tokenizer configuration that are read. Published ones stay under 200 kB."""
MOST_FILES = 10_000
MOST_VARIANTS = 16
"""Of a model's chat templates. Published models have up to three."""
DEEPEST_FOLDER = 8
_CONFIGURATION = "tokenizer_config.json"
_ITS_TEMPLATE, _ITS_VARIANTS = "chat_template.jinja", "additional_chat_templates"
_LATER_SHARD = re.compile(r"(.+-)(?!00001)\d{5}(-of-\d{5}\.gguf)", re.IGNORECASE)
_TOKENS = ("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token")


def is_model_file(path: str) -> bool:
    """Something that `file_facts` can look at, to judge by its name."""
    name = os.path.basename(path).lower()
    return name.endswith((".gguf", *TEMPLATE_ENDINGS)) or name in (_CONFIGURATION, "chat_template.json")


def model_files(folder: str) -> Iterator[str]:
    """The files in `folder` and below it that can be looked at, by name: each model once, so without what is read with
    another file, or goes on where it ends. Links to folders aren't followed.
    """
    found = 0
    start = folder.rstrip(os.sep).count(os.sep)
    for parent, folders, names in os.walk(folder):
        folders.sort()
        if parent.count(os.sep) - start >= DEEPEST_FOLDER:
            folders.clear()
        if _CONFIGURATION in names and _ITS_VARIANTS in folders:
            folders.remove(_ITS_VARIANTS)
        for name in sorted(_by_themselves(names)):
            if is_model_file(name):
                found += 1
                if found > MOST_FILES:
                    raise UsageError(f"{folder!r} has more than {MOST_FILES:,} model files", hint="name a part of it")
                yield os.path.join(parent, name)


def _by_themselves(names: Iterable[str]) -> Iterator[str]:
    every = frozenset(names)
    for name in every:
        shard = _LATER_SHARD.fullmatch(name)
        if shard and f"{shard[1]}00001{shard[2]}" in every:
            continue
        if name != _ITS_TEMPLATE or _CONFIGURATION not in every:
            yield name


def files_of(path: str) -> tuple[str, ...]:
    """The file, and those that it is read with."""
    return (path, *(_paths_beside(path).values() if path.lower().endswith(".json") else ()))


def version_of_file(path: str) -> str | None:
    """What changes when the file does, or one that it is read with."""
    try:
        stats = [os.stat(each) for each in files_of(path)]
    except (OSError, ValueError):
        return None
    return " ".join(f"{stat.st_size}-{stat.st_mtime_ns}" for stat in stats)


def file_facts(path: str) -> Facts:
    """What the file at `path` says about its model.

    Raises: NotFound, UsageError, HeaderError or TemplateError.
    """
    lower = path.lower()
    if lower.endswith(TEMPLATE_ENDINGS) or (not lower.endswith((".gguf", ".json")) and _looks_like_a_template(path)):
        return template_facts(_read_text(path), name=os.path.basename(path))
    if lower.endswith(".json"):
        return _configuration_file_facts(path)
    return facts_of(read_header(path), os.path.basename(path), time.time())


def _looks_like_a_template(path: str) -> bool:
    """Of a file whose name doesn't tell: text with Jinja's braces in it, and no GGUF."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            start = file.read(LARGEST_TEXT)
    except (OSError, ValueError):
        return False
    return not start.startswith(b"GGUF") and b"\0" not in start and (b"{%" in start or b"{{" in start)


def template_facts(source: str, name: str) -> Facts:
    """Raises: TemplateError, if there is nothing in it."""
    if not source.strip():
        raise TemplateError(f"{name!r} is empty, and an empty template shows a model nothing")
    return Facts(name=name, templates={"default": source}, at=time.time())


def _configuration_file_facts(path: str) -> Facts:
    """A tokenizer's configuration, with the templates that newer ones keep in files beside it."""
    try:
        configuration = msgspec.json.decode(_read_text(path))
    except (msgspec.DecodeError, RecursionError) as error:
        raise TemplateError(f"{path!r} is no JSON: {error}") from None
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    beside = {name: _read_text(template) for name, template in _paths_beside(path).items()}
    return configuration_facts(configuration, beside, folder or os.path.basename(path))


def configuration_facts(configuration: object, beside: Mapping[str, str], name: str) -> Facts:
    """What a `tokenizer_config.json` says; `beside`: the templates in files of their own, which overrule it.

    Raises: TemplateError, if it isn't one.
    """
    if not isinstance(configuration, dict):
        raise TemplateError(f"the tokenizer configuration of {name!r} is no JSON object")
    templates = {**_templates_in(configuration.get("chat_template")), **beside}
    tokens = {token: text for token in _TOKENS if (text := _token(configuration.get(token)))}
    return Facts(name=name, templates=templates, tokens=tokens, at=time.time())


def _templates_in(value: object) -> dict[str, str]:
    """One template, or several by name, as configurations have it."""
    if isinstance(value, str):
        return {"default": value}
    if isinstance(value, dict):
        return {name: text for name, text in value.items() if isinstance(text, str)}
    entries = value if isinstance(value, list) else []
    named = ((entry.get("name"), entry.get("template")) for entry in entries if isinstance(entry, dict))
    return {name: text for name, text in named if isinstance(name, str) and isinstance(text, str)}


def _paths_beside(path: str) -> dict[str, str]:
    """The templates that belong to the configuration at `path`, by name."""
    folder = os.path.dirname(path)
    paths = {}
    if os.path.isfile(main := os.path.join(folder, _ITS_TEMPLATE)):
        paths["default"] = main
    more = os.path.join(folder, _ITS_VARIANTS)
    if os.path.isdir(more):
        names = sorted(name for name in os.listdir(more) if name.endswith(".jinja"))
        paths.update({name.removesuffix(".jinja"): os.path.join(more, name) for name in names[:MOST_VARIANTS]})
    return paths


def _token(value: Any) -> str | None:
    """A special token: its text, or an object with the text in it."""
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else None


def _read_text(path: str) -> str:
    try:
        if not os.path.isfile(path):
            raise NotFound(f"there is no file {path!r}")
        with open(path, "rb") as file:
            return decode_text(file.read(LARGEST_TEXT + 1), path)
    except OSError as error:
        raise UsageError(f"{path!r} can't be read: {error.strerror}") from None


def decode_text(body: bytes, name: str) -> str:
    """Raises: TemplateError, if it is too long, or not UTF-8."""
    if len(body) > LARGEST_TEXT:
        raise TemplateError(f"{name!r} is longer than {LARGEST_TEXT >> 20} MB, and no chat template is")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TemplateError(f"{name!r} isn't UTF-8 text: {error.reason} at byte {error.start:,}") from None
