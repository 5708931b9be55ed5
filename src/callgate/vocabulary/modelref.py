"""How a user names a model: `[scheme:]name`.

    ollama:NAME                            a model of the local Ollama
    ollama+http://HOST:PORT#NAME           a model of an Ollama elsewhere
    file:PATH                              a GGUF file, here or at an http(s) URL
    hf:OWNER/NAME[/FILE.gguf][:QUANT][@REVISION]   a repository on the Hugging Face hub
    http(s)://HOST/v1#NAME                 a model of an OpenAI-compatible server
    scripted:FILE                          a recorded conversation
    tiny · tiny-plain · auto               the model in the box · without its tools · the best there is
    SCHEME://ANYTHING                      a backend that somebody else's package adds

Bare text is a file if it is an existing path or ends in `.gguf` (a URL's path too), and Ollama's otherwise.
"""

from __future__ import annotations

import os
import re

import msgspec

from callgate.vocabulary.errors import UsageError

_HUB = re.compile(
    r"(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)"
    r"(?:/(?P<file>[^:@]+\.gguf))?(?::(?P<quant>[\w.-]+))?(?:@(?P<revision>[^@\s]+))?",
)
_REMOTE = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<rest>\S+)", re.IGNORECASE)
_DRIVE = re.compile(r"[a-z]:[/\\]", re.IGNORECASE)
IN_THE_BOX = ("tiny", "tiny-plain")
"""The model that ships with callgate, with its tools and without."""
_ITSELF = (*IN_THE_BOX, "auto")


class HubRef(msgspec.Struct, frozen=True):
    """A model on the Hugging Face hub."""

    repo: str
    file: str | None = None
    quant: str | None = None
    revision: str | None = None

    @classmethod
    def parse(cls, text: str) -> HubRef:
        match = _HUB.fullmatch(text)
        if not match or {match["owner"], match["name"]} & {".", ".."}:
            raise UsageError(
                f"{text!r} doesn't name a model on the hub",
                hint="write OWNER/NAME, with /FILE.gguf, :QUANT or @REVISION behind it where wanted",
            )
        return cls(f"{match['owner']}/{match['name']}", match["file"], match["quant"], match["revision"])

    def __str__(self) -> str:
        file = f"/{self.file}" if self.file else ""
        quant = f":{self.quant}" if self.quant else ""
        revision = f"@{self.revision}" if self.revision else ""
        return f"{self.repo}{file}{quant}{revision}"


class ModelRef(msgspec.Struct, frozen=True):
    """A model by name. `str(ref)` gives a text that parses to the same ref, wherever it is read."""

    scheme: str
    """`ollama`, `file`, `hf`, `openai`, `scripted`, `tiny`, `tiny-plain`, `auto`, or a foreign one."""
    name: str
    """The model's name at its backend; a path for `file` and `scripted`."""
    endpoint: str | None = None
    """The server's URL: always for `openai`, for `ollama` where it isn't the local one."""

    @classmethod
    def parse(cls, text: str) -> ModelRef:
        """Raises: UsageError, if `text` names no model."""
        if not text.strip() or "\0" in text:
            raise UsageError("a model needs a name", hint="for example: qwen3:8b, file:model.gguf, tiny")
        if text in _ITSELF:
            return cls(text, text)
        scheme, colon, name = text.partition(":")
        if colon and scheme in ("ollama", "file", "hf", "scripted"):
            if scheme == "file":
                name = _path_of_url(name)
            if not name:
                raise UsageError(f"{text!r} names no model", hint=f"write {scheme}:NAME")
            if scheme == "hf":
                name = str(HubRef.parse(name))
            return cls(scheme, name)
        if remote := _REMOTE.fullmatch(text):
            return cls._parse_remote(text, remote["scheme"].lower(), remote["rest"])
        if text.lower().endswith(".gguf") or os.path.exists(text):
            return cls("file", _with_one_slash(text))
        return cls("ollama", text)

    @classmethod
    def _parse_remote(cls, text: str, scheme: str, rest: str) -> ModelRef:
        base, hash_, name = rest.partition("#")
        if scheme in ("http", "https") and not hash_ and base.partition("?")[0].lower().endswith(".gguf"):
            return cls("file", text)
        base = base.rstrip("/")
        if not base and scheme in ("http", "https", "ollama+http", "ollama+https"):
            raise UsageError(f"{text!r} names no server", hint=f"write {scheme}://HOST#NAME")
        if scheme in ("ollama+http", "ollama+https"):
            if not name:
                raise UsageError(f"{text!r} names a server but no model", hint=f"write {scheme}://{base}#NAME")
            return cls("ollama", name, f"{scheme.removeprefix('ollama+')}://{base}")
        if scheme in ("http", "https"):
            return cls("openai", name, f"{scheme}://{base}")
        return cls(scheme, rest)

    @property
    def is_in_the_box(self) -> bool:
        return self.scheme in IN_THE_BOX

    @property
    def hub(self) -> HubRef:
        """The parts of an `hf:` ref."""
        return HubRef.parse(self.name)

    def __str__(self) -> str:
        match self.scheme:
            case "tiny" | "tiny-plain" | "auto":
                return self.scheme
            case "ollama" if self.endpoint:
                return f"ollama+{self.endpoint}#{self.name}"
            case "openai":
                return f"{self.endpoint}#{self.name}" if self.name else f"{self.endpoint}"
            case "ollama" | "file" | "hf" | "scripted":
                return f"{self.scheme}:{self.name}"
            case foreign:
                return f"{foreign}://{self.name}"


def _path_of_url(rest: str) -> str:
    """`/x` of `file:///x`, and `x` of `file://x`; on Windows `C:/x` of `file:///C:/x`."""
    if not rest.startswith("///"):
        return rest.removeprefix("//")
    return rest[3:] if os.name == "nt" and _DRIVE.match(rest[3:]) else _with_one_slash(rest)


def _with_one_slash(path: str) -> str:
    return "/" + path.lstrip("/") if path.startswith("//") else path
