"""The clients that npm has, as package.json beside this file pins them: installed once for all checkouts."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST_NODE = 20
INSTALL_TIMEOUT_S = 150
OPTIONS = (
    "--ignore-scripts",
    "--no-package-lock",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--loglevel=error",
)

# As it was before any test changed it: npm needs the real home, caches, proxies and registry.
_environ = dict(os.environ)


class NotInstalled(Exception):
    """They aren't here, and couldn't be installed."""


@functools.cache
def installed() -> Path:
    """Their node_modules; downloaded when first asked for (seconds)."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise NotInstalled("node and npm are needed, and are not both on PATH")
    version = subprocess.run(
        [node, "--version"], capture_output=True, text=True, timeout=30, check=False
    ).stdout.strip()
    if not (major := version.removeprefix("v").partition(".")[0]).isdecimal() or int(major) < OLDEST_NODE:
        raise NotInstalled(f"Node.js {OLDEST_NODE} or later is needed; this is {version or 'none that runs'}")
    manifest = HERE / "package.json"
    caches = Path(_environ.get("XDG_CACHE_HOME") or Path(_environ.get("HOME", "~")).expanduser() / ".cache")
    folder = caches / "callgate-dev" / f"npm-{hashlib.sha256(manifest.read_bytes()).hexdigest()[:12]}"
    if not folder.is_dir():
        _install(npm, manifest, folder)
    return folder / "node_modules"


def _install(npm: str, manifest: Path, folder: Path) -> None:
    """Whole or not at all, whoever else does the same just now."""
    aside = folder.with_name(f"{folder.name}.{os.getpid()}")
    try:
        aside.mkdir(parents=True)
        shutil.copy(manifest, aside)
        command = [npm, "install", *OPTIONS]
        done = subprocess.run(
            command, cwd=aside, env=_environ, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False
        )
        if done.returncode:
            raise NotInstalled(f"npm said: {done.stderr.strip()[-300:]}")
        with suppress(OSError):  # somebody else was faster
            aside.rename(folder)
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"npm did not end within {INSTALL_TIMEOUT_S} s") from None
    except OSError as error:
        raise NotInstalled(f"no folder for them: {error}") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
