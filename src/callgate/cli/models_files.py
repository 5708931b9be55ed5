"""`callgate models rm`, `import` and `path`: the files behind models."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from callgate.cli import DONE
from callgate.cli.models_said import add_action
from callgate.cli.screen import LiveLine, in_bytes, print_json, printable
from callgate.runtime import Quarantined, fetched_model, ollama_blob, one_model
from callgate.settings import Settings, load_settings
from callgate.vocabulary import ModelRef, NotFound, UsageError

ACTIONS = ("rm", "import", "path")
_WHICH = "hf:OWNER/NAME, a file, or a model of an Ollama"


def add_file_actions(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    remove = add_action(actions, "rm", "remove a model that was fetched, or one of an Ollama", model=_WHICH)
    remove.add_argument("--yes", action="store_true", help="don't ask")
    bring = add_action(actions, "import", "make a model of an Ollama out of a GGUF file", model=_WHICH)
    bring.add_argument("--name", metavar="NAME", help="what to call it there; else after its file")
    add_action(
        actions, "path", "where a model's file is: llama.cpp runs an Ollama's models too, without a copy", model=_WHICH
    )


def run_file_action(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    try:
        ref = fetched_model(one_model(arguments.model), settings)
    except UsageError as error:
        entry = getattr(error, "entry", None)
        if arguments.action == "rm" and isinstance(entry, Quarantined):
            error.hint = f"callgate quarantine delete {entry.id}"
        raise
    if ref.scheme == "hf":
        raise NotFound(f"{arguments.model!r} hasn't been fetched", hint=f"callgate pull {ref.name}")
    match arguments.action:
        case "rm":
            return _remove(ref, settings, arguments)
        case "import":
            return _import(ref, settings, arguments)
        case _:
            return _path(ref, settings, arguments)


def _path(ref: ModelRef, settings: Settings, arguments: argparse.Namespace) -> int:
    path = _file(ref, settings)
    if arguments.json:
        print_json({"ref": str(ref), "path": path})
    else:
        print(printable(path))
    return DONE


def _file(ref: ModelRef, settings: Settings) -> str:
    if ref.scheme == "file" and "://" not in ref.name:
        if not os.path.isfile(ref.name):
            raise NotFound(f"there is no file {ref.name!r}")
        return os.path.abspath(ref.name)
    if ref.scheme == "ollama" and ref.endpoint is None:
        if path := ollama_blob(ref.name, settings):
            return path
        raise NotFound(
            f"no file of an Ollama's model {ref.name!r} is on this machine", hint="OLLAMA_MODELS names its folder"
        )
    raise UsageError(f"'{ref}' isn't a file on this machine")


def _remove(ref: ModelRef, settings: Settings, arguments: argparse.Namespace) -> int:
    if ref.scheme == "ollama":
        _confirm(f"remove {ref.name!r} from the Ollama?", arguments)
        import asyncio

        asyncio.run(_remove_from_ollama(ref, settings))
        return _removed(str(ref), None, arguments)
    from callgate.hub import files_of, remove

    files = files_of(_file(ref, settings), settings)
    if not arguments.json:
        for file in files:
            print(printable(f"{file}  {in_bytes(os.path.getsize(file))}"), file=sys.stderr)
    _confirm("remove it?" if len(files) == 1 else f"remove these {len(files)} files?", arguments)
    return _removed(str(ref), remove(files, settings), arguments, files=files)


def _confirm(question: str, arguments: argparse.Namespace) -> None:
    if arguments.yes:
        return
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("nobody is there to confirm that it is to be removed", hint="add --yes")
    print(f"{printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was removed")


def _removed(name: str, freed: int | None, arguments: argparse.Namespace, files: Sequence[str] = ()) -> int:
    if arguments.json:
        print_json({"removed": name, "bytes_freed": freed, "files": list(files)})
    else:
        print(printable(f"removed {name}" + (f", {in_bytes(freed)} are free again" if freed else "")))
    return DONE


async def _remove_from_ollama(ref: ModelRef, settings: Settings) -> None:
    import msgspec

    from callgate.vocabulary import BadStatus
    from callgate.wire import HttpClient, ollama_base_url

    url = ollama_base_url(ref.endpoint or settings.ollama.host)
    async with HttpClient() as http:
        try:
            body = msgspec.json.encode({"model": ref.name})
            async with http.open("DELETE", f"{url}/api/delete", body=body):
                pass
        except BadStatus as error:
            if error.status == 404:
                raise NotFound(f"the Ollama has no model {ref.name!r}", hint="callgate models") from None
            raise


def _import(ref: ModelRef, settings: Settings, arguments: argparse.Namespace) -> int:
    import asyncio

    from callgate.hub import default_name, import_into_ollama
    from callgate.wire import HttpClient, ollama_base_url

    path = _file(ref, settings)
    name = arguments.name or default_name(path)
    line = LiveLine()

    async def bring() -> str:
        async with HttpClient() as http:
            return await import_into_ollama(path, name, ollama_base_url(settings.ollama.host), http, told)

    def told(step: str, done: int, size: int) -> None:
        line.show(f"{step} … {100 * done // max(size, 1)} % of {in_bytes(size)}")

    try:
        digest = asyncio.run(bring())
    finally:
        line.end()
    if arguments.json:
        print_json({"ref": f"ollama:{name}", "path": path, "sha256": digest})
    else:
        print(printable(f"it is called {name} there: callgate check {name}"))
    return DONE
