"""The scripts that let shells complete the command line, each out of the same few tables."""

from __future__ import annotations

from typing import Annotated, Literal, get_args, get_origin

from callgate.cli.command_tree import Argument, Command
from callgate.settings import TABLE, Setting

_MODELS = ("MODEL", "MODELS", "TARGET")
_FOLDERS = ("FOLDER", "DIR")
_FETCHES = ("pull",)
"""Whose models aren't here yet."""
_LIST_MODELS = """callgate models --json 2>/dev/null | sed -n 's/^{"ref":"\\([^"]*\\)".*/\\1/p'"""


def script_for(shell: str, tree: Command) -> str:
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](list(tree.all()))


def _kind(command: Command, argument: Argument) -> str:
    """What may stand there: `model`, `file`, `folder`, `-` (nobody knows), or words to choose from."""
    if argument.choices:
        return " ".join(argument.choices)
    named = argument.metavar.strip("[]")
    if command.words[:1] == ("config",) and named == "KEY":
        return " ".join(TABLE)
    if named in _MODELS and command.words[:1] != _FETCHES:
        return "model"
    return "file" if named == "FILE" else "folder" if named in _FOLDERS else "-"


def _place(command: Command) -> str:
    """What stands behind the command, where no option does."""
    if command.below:
        return " ".join(below.words[-1] for below in command.below)
    return _kind(command, command.places[0]) if command.places else "-"


def _cases(rows: dict[str, str], indent: str) -> str:
    """Arms of a `case`, alike ones together."""
    alike: dict[str, list[str]] = {}
    for pattern, done in rows.items():
        alike.setdefault(done, []).append(f'"{pattern}"')
    return "\n".join(f"{indent}{'|'.join(patterns)}) {done} ;;" for done, patterns in alike.items())


def _steps(commands: list[Command]) -> str:
    return "|".join(f'"{" ".join(command.words[:-1])} {command.words[-1]}"' for command in commands if command.words)


def _setting_kind(setting: Setting) -> str:
    """As `_kind` has it, of a setting's value."""
    if setting.key == "models.default":
        return "model"
    hint = setting.type
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) is Literal:
        return " ".join(map(str, get_args(hint)))
    return "true false" if hint is bool else "folder" if setting.expects == "a folder" else "-"


def _values(commands: list[Command]) -> dict[str, str]:
    """What stands behind each option that takes something, and behind each setting's name."""
    of_settings = {f"config set {key}": f"kind={_single(_setting_kind(each))}" for key, each in TABLE.items()}
    return of_settings | {
        f"{' '.join(command.words)} {flag}": f"kind={_single(_kind(command, option))}"
        for command in commands
        for option in command.options
        if option.metavar
        for flag in option.flags
    }


def _places(commands: list[Command]) -> dict[str, str]:
    return {" ".join(command.words): f"kind={_single(_place(command))}" for command in commands}


def _flags(command: Command) -> str:
    return " ".join(flag for option in command.options for flag in option.flags)


def _bash(commands: list[Command]) -> str:
    flags = {" ".join(command.words): f"kind={_single(_flags(command))}" for command in commands}
    return f"""\
# callgate completion bash
_callgate() {{
    local IFS=$' \\t\\n' line=${{COMP_LINE:0:COMP_POINT}} words command= kind= current at
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${{words[${{#words[@]}} - 1]}}
    for ((at = 1; at < ${{#words[@]}} - 1; at++)); do
        case "$command ${{words[at]}}" in
            {_steps(commands)}) command="${{command:+$command }}${{words[at]}}" ;;
        esac
    done
    case "$command ${{words[${{#words[@]}} - 2]}}" in
{_cases(_values(commands), "        ")}
    esac
    if [[ -z $kind && $current == -* ]]; then
        case "$command" in
{_cases(flags, "            ")}
        esac
    elif [[ -z $kind ]]; then
        case "$command" in
{_cases(_places(commands), "            ")}
        esac
    fi
    case "$kind" in
        -) kind= ;;
        file) kind= && IFS=$'\\n' COMPREPLY=($(compgen -f -- "$current")) && compopt -o filenames ;;
        folder) kind= && IFS=$'\\n' COMPREPLY=($(compgen -d -- "$current")) && compopt -o filenames ;;
        model) kind="tiny-plain auto $({_LIST_MODELS})" ;;
    esac
    [[ -z $kind ]] || COMPREPLY=($(compgen -W "$kind" -- "$current"))
    # Readline takes what stands behind a colon for a word of its own.
    at=${{current%"${{current##*:}}"}}
    [[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${{COMPREPLY[@]#"$at"}}")
    return 0
}}
complete -o bashdefault -F _callgate callgate
"""


def _zsh(commands: list[Command]) -> str:
    flags = {
        " ".join(command.words): "told=("
        + " ".join(_single(f"{flag}:{option.help}") for option in command.options for flag in option.flags)
        + ")"
        for command in commands
    }
    below = {
        " ".join(command.words): "told=("
        + " ".join(_single(f"{each.words[-1]}:{each.summary}") for each in command.below)
        + ")"
        for command in commands
        if command.below
    }
    return f"""\
#compdef callgate
_callgate() {{
    local command= kind= at
    local -a told models
    for ((at = 2; at < CURRENT; at++)); do
        case "$command ${{words[at]}}" in
            {_steps(commands)}) command="${{command:+$command }}${{words[at]}}" ;;
        esac
    done
    case "$command ${{words[CURRENT - 1]}}" in
{_cases(_values(commands), "        ")}
    esac
    if [[ -z $kind && $PREFIX == -* ]]; then
        case "$command" in
{_cases(flags, "            ")}
        esac
        _describe option told
        return
    elif [[ -z $kind ]]; then
        case "$command" in
{_cases(_places(commands), "            ")}
        esac
        case "$command" in
{_cases(below, "            ")}
        esac
    fi
    if (( ${{#told}} )); then
        _describe command told
        return
    fi
    case "$kind" in
        -) ;;
        file) _files ;;
        folder) _files -/ ;;
        model)
            models=(tiny-plain auto ${{(f)"$({_LIST_MODELS})"}})
            compadd -a models
            _files
            ;;
        *) compadd -- ${{=kind}} ;;
    esac
}}
compdef _callgate callgate
"""


def _fish(commands: list[Command]) -> str:
    lines = [
        "# callgate completion fish",
        "function __callgate_command",
        "    set -l command ''",
        "    for word in (commandline -opc)[2..-1]",
        '        switch "$command $word"',
        f"            case {_steps(commands).replace('|', ' ')}",
        '                set command (string trim "$command $word")',
        "        end",
        "    end",
        "    echo $command",
        "end",
        f"function __callgate_models\n    echo tiny-plain\n    echo auto\n    {_LIST_MODELS}\nend",
        "complete -c callgate -f",
    ]
    for command in commands:
        here = f"""complete -c callgate -n 'test (__callgate_command) = "{" ".join(command.words)}"'"""
        lines += [f"{here} -a {below.words[-1]} -d {_fished(below.summary)}" for below in command.below]
        if command.words == ("config", "set"):
            lines += _fish_settings()
        elif not command.below:
            lines += [f"{here} {words}" for words in _fish_takes(_place(command))]
        for option in command.options:
            spelt = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
            kind = _kind(command, option)
            # -x: nothing but what is listed; -r: files, too
            takes = [("-r" if kind in ("file", "model") else "-x"), *_fish_takes(kind)] if option.metavar else []
            lines.append(" ".join([here, spelt, "-d", _fished(option.help), *takes]))
    return "\n".join(lines) + "\n"


def _fish_settings() -> list[str]:
    """What stands behind `config set`: a key, and behind that what it takes."""
    behind = {"set": " ".join(TABLE)} | {key: _setting_kind(setting) for key, setting in TABLE.items()}
    here = """complete -c callgate -n 'test (__callgate_command) = "config set"; and test (commandline -opc)[-1] = """
    return [f"{here}{word}' {words}" for word, kind in behind.items() for words in _fish_takes(kind)]


def _fish_takes(kind: str) -> list[str]:
    match kind:
        case "-":
            return []
        case "file":
            return ["-F"]
        case "folder":
            return ["-a '(__fish_complete_directories)'"]
        case "model":
            return ["-F -a '(__callgate_models)'"]
    return [f"-a {_fished(kind)}"]


def _single(text: str) -> str:
    """Quoted for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fished(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
