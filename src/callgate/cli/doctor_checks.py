"""What may be wrong with an installation, one look after the other; none of them changes anything."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Literal

import msgspec

from callgate import __version__
from callgate.cli.screen import in_bytes
from callgate.detect import BOXED_FILE
from callgate.registry import Registry
from callgate.runtime import SeenServer, hub_cache_folder
from callgate.settings import (
    TABLE,
    Settings,
    nearest_variable,
    place_of_settings_file,
    unknown_variables,
    without_password,
)
from callgate.wire import ollama_base_url
from callgate.wire import shown as shown_url

State = Literal["ok", "absent", "wrong"]
"""`absent` is what need not be there."""

EXTRAS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "llamacpp": ("runs GGUF files here", ("xllamacpp",)),
    "serve": ("callgate serve", ("uvicorn", "httptools", "uvloop")),
    "chat": ("callgate chat on a terminal", ("prompt-toolkit", "rich")),
    "mcp": ("tools of MCP servers", ("mcp",)),
    "hub": ("callgate pull", ("huggingface-hub",)),
    "redis": ("several callgate serve that share things", ("redis",)),
    "otel": ("callgate serve --otel", ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http")),
}
"""What each is for, and the packages that it installs."""
NOT_ON_WINDOWS = "uvloop"
ENGINE_SECONDS = 20.0
LEAST_SPACE = 500_000_000
"""Bytes; no model worth the name is smaller."""
_LONGEST_REASON = 300
_UNSET_SERVER = "callgate config set llamacpp.server PATH; or `callgate config unset llamacpp.server`"


class Checked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was looked at."""

    section: str
    name: str
    state: State
    detail: str
    next: str | None = None
    """What to do about it."""
    version: str | None = None
    path: str | None = None
    url: str | None = None
    origin: str | None = None
    free_bytes: int | None = None
    models: int | None = None


def this_program() -> Iterator[Checked]:
    where = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield Checked(section="callgate", name="callgate", state="ok", detail=where, version=__version__, path=where)
    python = f"{platform.python_implementation()} at {sys.executable}"
    yield Checked(section="callgate", name="Python", state="ok", detail=python, version=platform.python_version())
    yield Checked(section="callgate", name="system", state="ok", detail=platform.platform())
    is_there = os.path.isfile(BOXED_FILE)
    yield Checked(
        section="callgate",
        name="tiny",
        state="ok" if is_there else "wrong",
        detail="the model in the box" if is_there else "the model in the box is missing",
        next=None if is_there else "install callgate again",
        path=BOXED_FILE,
    )


def extras() -> Iterator[Checked]:
    for extra, (purpose, packages) in EXTRAS.items():
        wanted = [name for name in packages if not (name == NOT_ON_WINDOWS and sys.platform == "win32")]
        found = {name: _version(name) for name in wanted}
        missing = [name for name, version in found.items() if version is None]
        if not missing:
            detail = ", ".join(f"{name} {version}" for name, version in found.items())
        else:
            detail = f"without {' and '.join(missing)}" if len(missing) < len(found) else "not installed"
        yield Checked(
            section="extras",
            name=extra,
            state="absent" if missing else "ok",
            detail=f"{detail} ({purpose})",
            next=f"pip install 'callgate[{extra}]'" if missing else None,
            version=found[packages[0]],
        )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def engine(settings: Settings) -> Checked:
    """Whether it can be started at all, in a process of its own: a library for another processor would end ours."""
    server = settings.llamacpp.server
    if server is None and _version("xllamacpp") is None:
        return Checked(
            section="engines",
            name="llama.cpp",
            state="absent",
            detail="not installed: no GGUF files run here, nor does tiny",
            next="pip install 'callgate[llamacpp]'",
        )
    code = "from importlib.metadata import version; import xllamacpp; print('xllamacpp', version('xllamacpp'))"
    command = [sys.executable, "-c", code] if server is None else [os.path.expanduser(server), "--version"]
    name = "llama.cpp" if server is None else "llama-server"
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=ENGINE_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
        said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        problem = None if done.returncode == 0 else f"it ends with status {done.returncode}: {said[-_LONGEST_REASON:]}"
    except (OSError, subprocess.TimeoutExpired) as error:
        said, problem = "", getattr(error, "strerror", None) or f"it doesn't start within {ENGINE_SECONDS:g} s"
    if server is None:
        mend = "pip install --force-reinstall 'callgate[llamacpp]'"
    else:
        origin = settings.origin("llamacpp.server")
        problem = problem and f"{server!r}, which the setting llamacpp.server names ({origin}): {problem}"
        mend = f"let {origin.removeprefix('env:')} name another program" if origin.startswith("env:") else _UNSET_SERVER
    return Checked(
        section="engines",
        name=name,
        state="wrong" if problem else "ok",
        detail=problem or (said.splitlines() or [""])[0][:_LONGEST_REASON],
        next=mend if problem else None,
        version=None if problem or server else said.rpartition(" ")[2],
        path=server,
    )


def server(seen: SeenServer) -> Checked:
    state: State = "ok" if seen.is_there else "absent"
    if seen.problem:  # at a port that we only know, it is somebody else's
        state = "wrong" if seen.named else "absent"
    detail = f"nobody listens at {seen.url}"
    if seen.problem:
        detail = seen.problem.message
    elif seen.wants_key:
        detail = f"{seen.url} wants a key"
    elif seen.is_there:
        detail = f"{seen.kind} {seen.version or 'of an unknown version'} at {seen.url}, {seen.models:,} models"
    return Checked(
        section="servers",
        name=seen.name,
        state=state,
        detail=detail,
        next=(seen.problem and seen.problem.hint) or "is it the right address?" if state == "wrong" else None,
        version=seen.version,
        url=seen.url,
        models=seen.models,
    )


def paths(settings: Settings) -> Iterator[Checked]:
    for name, path in (("data", settings.data_folder), ("cache", settings.cache_folder)):
        yield _writable(name, path)
    if settings.models.dir:
        yield _writable("models.dir", os.path.abspath(os.path.expanduser(settings.models.dir)), must_be=True)
    yield _writable("hub cache", os.path.abspath(hub_cache_folder(settings)))
    if named := settings.mcp.servers:
        is_there = os.path.isfile(os.path.expanduser(named))
        yield Checked(
            section="paths",
            name="mcp.servers",
            state="ok" if is_there else "wrong",
            detail=named if is_there else f"there is no file {named!r}",
            next=None if is_there else "callgate config unset mcp.servers, or name another",
            path=named,
        )


def _writable(name: str, path: str, *, must_be: bool = False) -> Checked:
    """A folder that isn't there yet has to be one that can be made."""
    there = path
    while not os.path.lexists(there) and os.path.dirname(there) != there:
        there = os.path.dirname(there)
    problem = "there is no such folder" if must_be and there != path else _why_not_written(there, is_it=there == path)
    free = shutil.disk_usage(there).free if os.path.isdir(there) else None
    if problem is None and free is not None and free < LEAST_SPACE:
        problem = f"only {in_bytes(free)} are free"
    made_later = "" if there == path else ", made when it is needed"
    return Checked(
        section="paths",
        name=name,
        state="wrong" if problem else "ok",
        detail=f"{path}: {problem}" if problem else f"{path} ({in_bytes(free)} free{made_later})",
        next="CALLGATE_HOME names another folder for data and cache; see `callgate config`" if problem else None,
        path=path,
        free_bytes=free,
    )


def _why_not_written(folder: str, *, is_it: bool) -> str | None:
    try:
        if is_it:
            with tempfile.TemporaryFile(dir=folder):
                return None
        return None if os.path.isdir(folder) and os.access(folder, os.W_OK) else f"{folder} can't be written"
    except OSError as error:
        return f"it can't be written: {error.strerror}"


def choices(settings: Settings, problems: Mapping[str, str]) -> Iterator[Checked]:
    """The settings that somebody made, with what is secret left out; `problems` of some of them are known."""
    place = place_of_settings_file()
    there = "" if os.path.isfile(place) else " (not there, and need not be)"
    yield Checked(section="settings", name="file", state="ok", detail=f"{place}{there}", path=place)
    for key in TABLE:
        if (origin := settings.origin(key)) != "default":
            yield _choice(settings, key, origin, problems.get(key))
    for name in unknown_variables():
        near = nearest_variable(name)
        yield Checked(
            section="settings",
            name=name,
            state="wrong",
            detail="sets nothing: there is no such setting",
            next=f"did you mean {near}?" if near else "`callgate config` lists them",
        )


def _choice(settings: Settings, key: str, origin: str, problem: str | None) -> Checked:
    setting = TABLE[key]
    value = getattr(getattr(settings, setting.section), setting.name)
    shown = "set" if setting.is_secret else without_password(str(value))
    if key == "ollama.host":  # where a password may stand without anything before it
        shown = shown_url(ollama_base_url(str(value)))
    mend = f"let {origin[4:]} name another" if origin.startswith("env:") else f"callgate config set {key} …"
    return Checked(
        section="settings",
        name=key,
        state="wrong" if problem else "ok",
        detail=f"{shown} ({origin}){f': {problem}' if problem else ''}",
        next=f"{mend}; `callgate models` lists what there is" if problem else None,
        origin=origin,
    )


def registry(settings: Settings) -> Checked:
    kept = Registry.in_folder(settings.data_folder)
    if problem := kept.problem():
        mend = "the next command sets a damaged file aside and begins a new one; your words in it may be saved by hand"
        return Checked(
            section="registry", name="user_models.json", state="wrong", detail=problem, next=mend, path=kept.path
        )
    count = sum(1 for _ in kept.records())
    detail = f"{count:,} models in {kept.path}" if os.path.exists(kept.path) else "empty"
    return Checked(section="registry", name="user_models.json", state="ok", detail=detail, path=kept.path, models=count)
