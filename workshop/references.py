"""The pages under docs/reference/, out of the code: every command with its options, and every setting.

They are kept in the repository, where people read them too, and a change to them is seen like any other; a test says
when they are no longer what the code says, and `./dev docs` writes them anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from callgate.cli import COMMANDS, parser_of
from callgate.cli.command_tree import Argument, Command, command_tree
from callgate.settings import TABLE, Setting

_FLAGS = {
    "tools.strategy": "`ask`, `render`, `serve`: `--strategy`",
    "tools.per_model": "`serve --model-strategy`",
    "tools.allow": "`ask`, `chat`: `--allow`",
    "tools.deny": "`ask`, `chat`: `--deny`",
    "tools.max_turns": "`ask`, `chat`: `--max-turns`",
    "mcp.servers": "`ask`, `chat`: `--mcp`",
    "models.default": "the `MODEL` of each command",
    "models.fallback": "`ask`, `chat`, `serve`: `--fallback`",
    "models.require_tools": "`serve --require-tools`",
    "ollama.host": "`ask`, `models`: `--endpoint`; `ollama+http://host:port#NAME`",
    "openai.base_url": "`http://host/v1#NAME`",
    "discovery.endpoints": "`serve --upstream`",
    "serve.api_keys": "`serve --api-key`",
    "serve.redis": "`serve`, `keys`: `--redis`",
    "timeouts.between": "`ask --timeout`",
    "timeouts.first_byte": "`ask --timeout`",
    "logging.level": "`--verbose` shows what is logged",
}
"""What says the same for one command only."""

_WITHOUT = {
    "ollama.models": "Ollama's own",
    "hub.cache": "the hub's own",
    "hub.home": "the hub's own",
    "discovery.caches": "`~/.cache`",
    "models.default": "the best there is",
    "llamacpp.server": "our engine",
    "llamacpp.gpu_layers": "the engine's choice",
    "llamacpp.flash_attention": "the engine's choice",
    "llamacpp.kv_type": "the engine's choice",
    "storage.home": "your platform's folders",
}
"""What holds where a setting is unset; none, of the others."""

_SECTIONS = {
    "detect": "What is believed of models, and for how long.",
    "ollama": "The Ollama that bare names such as `qwen3:8b` are asked of.",
    "openai": "The paid API, if you have one.",
    "hub": "The Hugging Face hub, and what [`callgate pull`](../pull.md) fetches.",
    "discovery": "Where models are looked for.",
    "timeouts": "How long servers may take. All are seconds.",
    "models": "Which models are taken.",
    "tools": "How tools reach models, and which of them are run.",
    "mcp": "[MCP servers](../mcp.md).",
    "llamacpp": "llama.cpp, which runs GGUF files.",
    "serve": "[`callgate serve`](../serve.md); what else it takes are its [options](cli.md#callgate-serve).",
    "logging": "What is logged. Arguments and secrets never are.",
    "storage": "Where callgate keeps what it knows.",
}


_SETTINGS = """\
# Settings

<!-- Written by ./dev docs out of src/callgate/settings/sections.py. -->

A setting has the value that a command's option gives it, else a variable of the environment, else the settings file,
else its default. `callgate config` shows all of them with where each comes from, and changes the file:

```console
$ callgate config set tools.strategy emulate
tools.strategy: emulate
kept in …config.toml
$ callgate config get tools.strategy
emulate
$ callgate config unset tools.strategy
tools.strategy: auto, its default
```

The file is `config.toml` in callgate's folder among your settings, or in `CALLGATE_HOME`, or the one that
`CALLGATE_CONFIG` names; `callgate config path` tells. It is TOML, with a table for each section. What takes several
with commas may be a list there.

```toml
[tools]
strategy = "auto"
allow = ["time/*", "git/git_log"]  # or "time/*,git/git_log"

[llamacpp]
gpu_layers = 99
```

A variable that looks like one of ours and sets nothing is misspelt, most likely: `callgate doctor` names it.

"""

_COMMANDS = """\
# Commands

<!-- Written by ./dev docs out of what `callgate COMMAND --help` says. -->

`callgate COMMAND --help` says the same. With `--json` a command prints one object a line on standard output, and
notices go to standard error; an error is `{"error": {"type", "message", "hint"}}`.

| exit status | |
|---|---|
| 0 | done |
| 1 | something failed, and a line says what; the rest is still done |
| 2 | wrong usage |
| 3 | a requirement was not met (`--require`, `--min-pass`), or a model was refused |
| 4 | a server or the hub could not be reached |
| 130 | interrupted |

Your shell can complete all this, models in reach and settings included:

=== "bash"

    ```sh
    eval "$(callgate completion bash)"  # in ~/.bashrc
    ```

=== "zsh"

    ```zsh
    source <(callgate completion zsh)  # in ~/.zshrc, behind compinit
    ```

=== "fish"

    ```fish
    mkdir -p ~/.config/fish/completions
    callgate completion fish > ~/.config/fish/completions/callgate.fish
    ```
"""


def pages() -> dict[str, str]:
    """Their text, by their path under docs/."""
    return {"reference/cli.md": commands_page(), "reference/configuration.md": settings_page()}


def write(root: Path) -> list[Path]:
    """Those that changed."""
    changed = []
    for name, text in pages().items():
        path = root / "docs" / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            changed.append(path)
    return changed


# --- Settings ---


def settings_page() -> str:
    sections = groupby(TABLE.values(), key=lambda setting: setting.section)
    return _SETTINGS + "\n".join(line for name, settings in sections for line in _section(name, list(settings)))


def _section(name: str, settings: list[Setting]) -> Iterator[str]:
    yield from (f"## {name}", "", _SECTIONS.get(name, ""), "", "| setting | default | what it is |", "|---|---|---|")
    for setting in settings:
        about = f"{setting.help}<br>*{setting.expects}*"
        about += f"<br>{', '.join(f'`{variable}`' for variable in setting.env)}"
        if setting.key in _FLAGS:
            about += f"<br>option: {_FLAGS[setting.key]}"
        anchor = setting.key.replace(".", "-")
        yield f'| <a id="{anchor}"></a>`{setting.key}` | {_default(setting)} | {_cell(about)} |'
    yield ""


def _default(setting: Setting) -> str:
    match setting.default:
        case None:
            return _WITHOUT.get(setting.key, "none")
        case bool():
            return f"`{str(setting.default).lower()}`"
        case float():
            return f"`{setting.default:g}`"
    return f"`{setting.default}`".replace(",", ", ")


# --- Commands ---


def commands_page() -> str:
    os.environ["COLUMNS"] = "100"  # argparse asks for it, and the page must not depend on a terminal
    tree = command_tree(parser_of(*COMMANDS))
    lines = [_COMMANDS, "| command | |", "|---|---|"]
    for command in tree.below:
        name = command.words[0]
        lines.append(f"| [`{name}`](#callgate-{name}) | {_cell(command.summary)} |")
    lines.append("")
    for command in tree.below:
        for each in command.all():
            lines += _command(each)
    return "\n".join(lines)


def _command(command: Command) -> Iterator[str]:
    yield from ("#" * (len(command.words) + 1) + f" callgate {' '.join(command.words)}", "")
    if len(command.words) == 1:
        yield from (_prose(command.about), "")
    else:
        yield from (_sentence(command.summary), "")
    yield from (f"`{_usage(command)}`", "")
    shown = [each for each in command.arguments if each.flags != ("-h", "--help")]
    if shown:
        yield from ("| | |", "|---|---|")
        yield from (_row(each) for each in shown)
        yield ""
    if command.closing:
        yield from ("```text", command.closing, "```", "")


def _usage(command: Command) -> str:
    places = [f"{each.metavar} …" if each.repeats else each.metavar for each in command.places]
    shown = [text if each.required else f"[{text}]" for each, text in zip(command.places, places, strict=True)]
    action = ["ACTION" if command.needs_below else "[ACTION]"] if command.below else []
    return " ".join(["callgate", *command.words, "[OPTIONS]", *shown, *action])


def _row(argument: Argument) -> str:
    flags = [*argument.flags] or [""]
    flags[-1] = f"{flags[-1]} {argument.metavar}".strip()
    return f"| {', '.join(map(_code, flags))} | {_cell(argument.help)} |"


def _code(text: str) -> str:
    """In a cell, where a bar can't stand between backticks."""
    return f"<code>{text.replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def _prose(text: str) -> str:
    """What `--help` says, with names of placeholders and options as code."""
    return re.sub(r"(?<![`\w-])(--[a-z][\w-]*|[A-Z]{4,}(?:_[A-Z]+)*)(?![`\w])", _as_code, text)


def _as_code(found: re.Match[str]) -> str:
    word = found.group()
    return (
        word
        if word in ("GGUF", "TOML", "HTTP", "JUnit") or found.string[: found.start()].count("`") % 2
        else f"`{word}`"
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
