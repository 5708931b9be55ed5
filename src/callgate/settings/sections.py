"""Every setting there is: its name, its type and default, and what it is for."""

# Annotations are not put off here: they are all read at once, and texts would have to be compiled first.
from typing import Annotated, Literal

import msgspec

from callgate.settings.kinds import About, Count, Expects, Flag, Seconds, Text, Token, Url

KINDS_OF_EVIDENCE = ("observed", "template", "header", "engine", "template_text", "name")
"""What `detect.sources` may name, the strongest first."""

_KIND = f"(?:{'|'.join(KINDS_OF_EVIDENCE)})"
_STRATEGY = "(?:auto|native|emulate|off)"


def _list_of(entry: str) -> str:
    """A pattern for several of them, with commas."""
    one = rf"\s*(?:{entry})?"
    return rf"^{one}(?:,{one})*$"


class Detect(msgspec.Struct, frozen=True, kw_only=True):
    cache_ttl: Annotated[Seconds, About("how long what was found out about a model is believed")] = 600.0
    guess_ttl: Annotated[Seconds, About("how long a guess is believed that was made because a server failed")] = 30.0
    server_timeout: Annotated[Seconds, About("how long a server may take to answer")] = 5.0
    probe_timeout: Annotated[Seconds, About("how long a loaded model may take to call the tool of a live probe")] = 5.0
    unknown: Annotated[
        Literal["ask", "probe", "no"],
        Expects("ask, probe or no"),
        About("what the chat does where nobody knows of tools: ask you, try it out, or leave them off"),
    ] = "ask"
    learn: Annotated[
        Literal["ask", "session", "never"],
        Expects("ask, session or never"),
        About("what becomes of a turn that contradicts what is believed: you are asked, it holds for now, or nothing"),
    ] = "ask"
    refresh: Annotated[
        Literal["background", "off"],
        Expects("background or off"),
        About("whether models that are new or have changed are looked at when the chat starts"),
    ] = "background"
    sources: Annotated[
        Annotated[str, msgspec.Meta(pattern=rf"^\s*{_KIND}\s*(?:,\s*{_KIND}\s*)*$", max_length=4096)],
        Expects(f"some of {', '.join(KINDS_OF_EVIDENCE)}, with commas", several=True),
        About("which kinds of evidence are believed, besides your own word"),
    ] = ",".join(KINDS_OF_EVIDENCE)


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
        Token, Expects("a key"), About("who you are to that API, and to no other", env=("OPENAI_API_KEY",))
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
    timeout: Annotated[Seconds, About("how long a server may take to say which models it has; 0: nobody is asked")] = (
        0.3
    )
    endpoints: Annotated[
        Annotated[str, msgspec.Meta(pattern=_list_of(r"[^,=:/\s][^,=:/]*=\s*[^,\s][^,]*"), max_length=4096)] | None,
        Expects("NAME=URL, several with commas", several=True),
        About("servers of yours where to look for models too"),
    ] = None
    caches: Annotated[
        Text | None, Expects("a folder"), About("where programs keep their caches", env=("XDG_CACHE_HOME",))
    ] = None


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    connect: Annotated[Seconds, About("how long a server may take to accept a connection")] = 5.0
    first_byte: Annotated[Seconds, About("how long a model may take until it says something, loading included")] = 300.0
    between: Annotated[Seconds, About("how long a model may fall silent in the middle of an answer")] = 120.0


class Models(msgspec.Struct, frozen=True, kw_only=True):
    default: Annotated[
        Text | None,
        Expects("a model, as `callgate check` takes it"),
        About("the one to talk to unless you name another"),
    ] = None
    dir: Annotated[Text | None, Expects("a folder"), About("a folder of GGUF files")] = None
    require_tools: Annotated[Flag, About("whether models that can't call tools are refused everywhere")] = False
    fallback: Annotated[
        Text | None,
        Expects("models, several with commas", several=True),
        About("who takes the turn if a model fails, in this order"),
    ] = None


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    strategy: Annotated[
        Literal["auto", "native", "emulate", "off"],
        Expects("auto, native, emulate or off"),
        About("how tools reach models; auto: as each model and its server can"),
    ] = "auto"
    per_model: Annotated[
        Annotated[str, msgspec.Meta(pattern=_list_of(rf"[^,\s][^,]*=\s*{_STRATEGY}\s*"), max_length=4096)] | None,
        Expects("MODEL=STRATEGY, several with commas", several=True),
        About("another strategy for some models"),
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
    limit: Annotated[
        Count, About("how many tools a model is offered: those that have most to do with what was asked; 0: all")
    ] = 0
    limit_per_model: Annotated[
        Annotated[str, msgspec.Meta(pattern=_list_of(r"[^,\s][^,]*=\s*[0-9]{1,9}\s*"), max_length=4096)] | None,
        Expects("MODEL=NUMBER, several with commas", several=True),
        About("another limit for some models"),
    ] = None
    allow: Annotated[
        Text | None,
        Expects("globs, several with commas", several=True),
        About("tools that are run without asking: NAME or SOURCE/NAME"),
    ] = None
    deny: Annotated[
        Text | None,
        Expects("globs, several with commas", several=True),
        About("tools that are never run, whatever else allows them"),
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


class Serve(msgspec.Struct, frozen=True, kw_only=True):
    api_keys: Annotated[
        Token,
        Expects("keys, several with commas", several=True),
        About("who may ask the server: one of these is required beyond this machine", env=("CALLGATE_API_KEYS",)),
    ] = None
    redis: Annotated[
        Token,
        Expects("a URL, redis://, rediss:// or unix://"),
        About("a Redis through which several servers share what must be shared", env=("CALLGATE_REDIS",)),
    ] = None


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    home: Annotated[
        Text | None, Expects("a folder"), About("where callgate keeps what it knows", env=("CALLGATE_HOME",))
    ] = None


class Logging(msgspec.Struct, frozen=True, kw_only=True):
    level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Expects("debug, info, warning or error"),
        About("how much is logged, on the screen with --verbose and in `logging.file`"),
    ] = "info"
    file: Annotated[
        Text | None, Expects("a path"), About("a log that says, among other things, why tools were on or off")
    ] = None
