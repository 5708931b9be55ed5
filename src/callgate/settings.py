"""All settings in one immutable record, each with its origin. Nobody else reads the environment.

A setting is one line in one of the sections below: its name, type and default, and what it is for. Its value comes from
the first of these that has one: an explicit override, the environment (`CALLGATE_DETECT_CACHE_TTL` for
`detect.cache_ttl`; a foreign variable such as `OLLAMA_HOST`, where one is named), the settings file, its default.

The file is TOML, with a table for each section: `CALLGATE_CONFIG` names it, or else it is `config.toml` in
`CALLGATE_HOME`, or in callgate's folder among the user's settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec

from callgate.vocabulary import UsageError

_LARGEST_FILE = 1_000_000


class Secret:
    """A text that shows itself only when it is asked to."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


class About(msgspec.Struct, frozen=True):
    """What a setting is for, and the foreign variables that set it too."""

    help: str
    env: tuple[str, ...] = ()


class Expects(msgspec.Struct, frozen=True):
    """What a type of setting takes, in words."""

    words: str


Seconds = Annotated[float, msgspec.Meta(ge=0, le=10**9), Expects("a number of seconds, 0 or more")]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=4096), Expects("a text")]
Url = Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s]+$", max_length=4096), Expects("a URL, http:// or https://")]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**40), Expects("a whole number, 0 or more")]
Flag = Annotated[bool, Expects("true or false")]
Token = Annotated[Secret | None, Expects("a token, without spaces")]


class Detect(msgspec.Struct, frozen=True, kw_only=True):
    cache_ttl: Annotated[Seconds, About("how long what was found out about a model is believed")] = 600.0
    guess_ttl: Annotated[Seconds, About("how long a guess is believed that was made because a server failed")] = 30.0
    server_timeout: Annotated[Seconds, About("how long a server may take to answer")] = 5.0
    probe_timeout: Annotated[Seconds, About("how long a loaded model may take to call the tool of a live probe")] = 5.0


class Ollama(msgspec.Struct, frozen=True, kw_only=True):
    host: Annotated[Text, About("where the Ollama listens", env=("OLLAMA_HOST",))] = "127.0.0.1:11434"
    models: Annotated[
        Text | None, Expects("a folder"), About("where the Ollama keeps its models", env=("OLLAMA_MODELS",))
    ] = None


class OpenAI(msgspec.Struct, frozen=True, kw_only=True):
    base_url: Annotated[Url, About("the API that the key is for", env=("OPENAI_BASE_URL",))] = (
        "https://api.openai.com/v1"
    )
    api_key: Annotated[
        Token | None, Expects("a key"), About("who you are to that API, and to no other", env=("OPENAI_API_KEY",))
    ] = None


class Hub(msgspec.Struct, frozen=True, kw_only=True):
    endpoint: Annotated[Url, About("the Hugging Face hub", env=("HF_ENDPOINT",))] = "https://huggingface.co"
    token: Annotated[Token, About("who you are to the hub", env=("HF_TOKEN",))] = None
    cache: Annotated[
        Text | None,
        Expects("a folder"),
        About("where models of the hub are kept", env=("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")),
    ] = None
    home: Annotated[
        Text | None, Expects("a folder"), About("where the hub's programs keep their things", env=("HF_HOME",))
    ] = None
    connections: Annotated[
        Count, About("parts of a model that are fetched at once; what a kill loses grows with it")
    ] = 4


class Discovery(msgspec.Struct, frozen=True, kw_only=True):
    timeout: Annotated[Seconds, About("how long a server may take to say which models it has")] = 0.3
    endpoints: Annotated[
        Text | None, Expects("NAME=URL, several with commas"), About("servers of yours where to look for models too")
    ] = None
    caches: Annotated[
        Text | None, Expects("a folder"), About("where programs keep their caches", env=("XDG_CACHE_HOME",))
    ] = None


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    connect: Annotated[Seconds, About("how long a server may take to accept a connection")] = 5.0
    first_byte: Annotated[Seconds, About("how long a model may take until it says something, loading included")] = 300.0
    between: Annotated[Seconds, About("how long a model may fall silent in the middle of an answer")] = 120.0


class Models(msgspec.Struct, frozen=True, kw_only=True):
    dir: Annotated[Text | None, Expects("a folder"), About("a folder of GGUF files")] = None
    require_tools: Annotated[Flag, About("whether models that can't call tools are refused everywhere")] = False
    fallback: Annotated[
        Text | None, Expects("models, several with commas"), About("who takes the turn if a model fails, in this order")
    ] = None


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    strategy: Annotated[
        Literal["auto", "native", "emulate", "off"],
        Expects("auto, native, emulate or off"),
        About("how tools reach models; auto: as each model and its server can"),
    ] = "auto"
    per_model: Annotated[
        Text | None, Expects("MODEL=STRATEGY, several with commas"), About("another strategy for some models")
    ] = None
    unsupported_in_chat: Annotated[
        Literal["emulate", "off"],
        Expects("emulate or off"),
        About("what the chat does with tools for a model that can't call them"),
    ] = "off"
    unsupported_in_gateway: Annotated[
        Literal["emulate", "off"],
        Expects("emulate or off"),
        About("what the server does with tools for a model that can't call them"),
    ] = "emulate"
    unsupported_in_library: Annotated[
        Literal["emulate", "off"],
        Expects("emulate or off"),
        About("what `ask` and the library do with tools for a model that can't call them"),
    ] = "emulate"
    recover: Annotated[Flag, About("whether calls that models write as text are recovered")] = True
    allow: Annotated[
        Text | None,
        Expects("globs, several with commas"),
        About("tools that are run without asking: NAME or SOURCE/NAME"),
    ] = None
    deny: Annotated[
        Text | None, Expects("globs, several with commas"), About("tools that are never run, whatever else allows them")
    ] = None
    max_turns: Annotated[Count, About("how often a model may call tools before it answers")] = 8
    max_repeats: Annotated[Count, About("how often a model may make the very same call before it answers")] = 3
    call_timeout: Annotated[Seconds, About("how long a tool may take")] = 120.0
    total_timeout: Annotated[Seconds, About("how long an answer may take with all its calls; 0: for ever")] = 0.0


class Mcp(msgspec.Struct, frozen=True, kw_only=True):
    servers: Annotated[
        Text | None, Expects("a path"), About("a file that names MCP servers, with `mcpServers` in it")
    ] = None
    start_timeout: Annotated[Seconds, About("how long an MCP server may take to start")] = 60.0
    restarts: Annotated[Count, About("how often an MCP server that ends is started again within five minutes")] = 5


class LlamaCpp(msgspec.Struct, frozen=True, kw_only=True):
    server: Annotated[Text | None, Expects("a path"), About("a llama-server of yours, instead of our engine")] = None
    context: Annotated[Count, About("tokens of context; 0: as many as the model has, 8192 at most")] = 0
    threads: Annotated[Count, About("threads that compute; 0: one for each core")] = 0
    gpu_layers: Annotated[Count | None, Expects("a number"), About("layers that go to the GPU")] = None
    flash_attention: Annotated[Flag | None, Expects("true or false"), About("whether to use flash attention")] = None
    kv_type: Annotated[Text | None, Expects("a type such as q8_0"), About("the type of the key-value cache")] = None
    projector: Annotated[Text | None, Expects("a path"), About("the projector (mmproj) for a model that sees")] = None
    memory_budget: Annotated[Count, About("megabytes for all loaded models; 0: most of what is free")] = 0


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    home: Annotated[
        Text | None, Expects("a folder"), About("where callgate keeps what it knows", env=("CALLGATE_HOME",))
    ] = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    detect: Detect = Detect()
    ollama: Ollama = Ollama()
    openai: OpenAI = OpenAI()
    hub: Hub = Hub()
    discovery: Discovery = Discovery()
    timeouts: Timeouts = Timeouts()
    models: Models = Models()
    tools: Tools = Tools()
    mcp: Mcp = Mcp()
    llamacpp: LlamaCpp = LlamaCpp()
    storage: Storage = Storage()
    origins: Mapping[str, str] = {}
    """Where those come from that aren't at their defaults."""

    def origin(self, key: str) -> str:
        """`default`, `override`, `env:VARIABLE` or `file:PATH`. Raises: UsageError, if there is no such setting."""
        if key not in TABLE:
            raise _no_such(key)
        return self.origins.get(key, "default")

    @property
    def data_folder(self) -> str:
        """Where what may not be lost is kept."""
        return self._folder("user_data_dir")

    @property
    def cache_folder(self) -> str:
        """Where what can be found out again is kept."""
        return self._folder("user_cache_dir", "cache")

    def _folder(self, of_platform: str, *below: str) -> str:
        if self.storage.home:
            return os.path.join(os.path.abspath(os.path.expanduser(self.storage.home)), *below)
        import platformdirs

        folder: str = getattr(platformdirs, of_platform)("callgate", appauthor=False)
        return folder


class Setting(msgspec.Struct, frozen=True):
    """One line of the table of settings."""

    section: str
    name: str
    type: Any
    default: Any
    help: str
    expects: str
    env: tuple[str, ...]
    is_secret: bool

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}"


def _settings() -> Iterator[Setting]:
    for section in msgspec.structs.fields(Settings):
        if section.name == "origins":
            continue
        hints = get_type_hints(section.type, include_extras=True)
        for field in msgspec.structs.fields(section.type):
            marks = {type(mark): mark for mark in getattr(hints[field.name], "__metadata__", ())}
            about = marks[About]
            own = f"CALLGATE_{section.name}_{field.name}".upper()
            yield Setting(
                section=section.name,
                name=field.name,
                type=field.type,
                default=field.default,
                help=about.help,
                expects=marks[Expects].words,
                env=(own, *about.env),
                is_secret=Secret in get_args(get_args(hints[field.name])[0]),
            )


TABLE: Mapping[str, Setting] = {setting.key: setting for setting in _settings()}


def load_settings(overrides: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """All settings as they are now; `overrides` by key, such as `detect.cache_ttl`.

    Raises: UsageError, which names the setting, its value, where it comes from and what is expected.
    """
    environ = os.environ if environ is None else environ
    found: dict[str, tuple[object, str]] = {}
    path = _file(environ)
    if path is not None:
        found.update({key: (value, f"file:{path}") for key, value in _read(path)})
    for key, setting in TABLE.items():
        variable = next((name for name in setting.env if environ.get(name, "").strip()), None)
        if variable:
            found[key] = environ[variable].strip(), f"env:{variable}"
    for key, value in (overrides or {}).items():
        if key not in TABLE:
            raise _no_such(key)
        found[key] = value, "override"

    sections: dict[str, dict[str, Any]] = {}
    for key, (value, origin) in found.items():
        setting = TABLE[key]
        sections.setdefault(setting.section, {})[setting.name] = _converted(setting, value, origin)
    origins = {key: origin for key, (_, origin) in found.items()}
    made = {name: msgspec.structs.replace(getattr(Settings(), name), **values) for name, values in sections.items()}
    return Settings(**made, origins=origins)


def _converted(setting: Setting, value: object, origin: str) -> Any:
    from_text = origin.startswith("env:")
    try:
        return msgspec.convert(value, setting.type, strict=not from_text, dec_hook=_secret)
    except (msgspec.ValidationError, OverflowError):
        shown = "" if setting.is_secret else f" is {str(value)[:80]!r}, which"
        raise UsageError(
            f"the setting {setting.key!r} ({origin}){shown} isn't {setting.expects}",
            hint=f"it is {setting.help}; its default is {setting.default!r}",
        ) from None


def _secret(type_: type, value: object) -> Secret:
    if type_ is Secret and isinstance(value, str) and value and value.isprintable() and " " not in value:
        return Secret(value)
    raise msgspec.ValidationError


def _no_such(key: str, where: str = "") -> UsageError:
    from difflib import get_close_matches

    near = get_close_matches(key[:80], TABLE, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(TABLE)}"
    return UsageError(f"there is no setting {key[:80]!r}{where}", hint=hint)


def _file(environ: Mapping[str, str]) -> str | None:
    """The settings file, where there is one. One that `CALLGATE_CONFIG` names has to be there."""
    if named := environ.get("CALLGATE_CONFIG", "").strip():
        return named
    folder = environ.get("CALLGATE_HOME", "").strip() or _users_folder(environ)
    path = os.path.join(folder, "config.toml")
    return path if folder and os.path.isfile(path) else None


def _users_folder(environ: Mapping[str, str]) -> str:
    """Where this platform keeps a user's settings; empty where it can't be told."""
    home = environ.get("HOME", "")
    if sys.platform == "win32":
        base = environ.get("APPDATA", "")
    elif sys.platform == "darwin":
        base = home and os.path.join(home, "Library", "Application Support")
    else:
        base = environ.get("XDG_CONFIG_HOME", "") or (home and os.path.join(home, ".config"))
    return base and os.path.join(base, "callgate")


def _read(path: str) -> Iterator[tuple[str, object]]:
    import tomllib

    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            raise UsageError(f"the settings file {path!r} is too large", hint="nothing but settings belongs there")
        tables = tomllib.loads(content.decode())
    except OSError as error:
        raise UsageError(
            f"the settings file {path!r} can't be read: {error.strerror}", hint="see CALLGATE_CONFIG"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"the settings file {path!r} isn't TOML: {error}", hint="[detect] and cache_ttl = 600"
        ) from None
    for section, table in tables.items():
        if not isinstance(table, dict):
            raise _no_such(section, f" in the file {path!r}")
        for name, value in table.items():
            key = f"{section}.{name}"
            if key not in TABLE:
                raise _no_such(key, f" in the file {path!r}")
            yield key, value
