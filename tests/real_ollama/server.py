"""A real Ollama for tests: built by `install` beside this file, started on a free port, with models of its own.

Standard library only, and synchronous: it has to work before anything of callgate's does.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODEL = "tiny"
BUILD_TIMEOUT_S = 900
START_TIMEOUT_S = 30
REQUEST_TIMEOUT_S = 60
STOP_TIMEOUT_S = 10

# As it was before any test changed it: the build needs the real home, caches and proxies.
_environ = dict(os.environ)

# Neither proxies nor anything else of the environment has a say in how loopback is reached.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class NotInstalled(Exception):
    """There is no Ollama, and none could be built."""


@functools.cache
def installed() -> Path:
    """The binary, built when first asked for (minutes), found at once afterwards."""
    if not shutil.which("go"):
        raise NotInstalled("go is needed to build it, and is not on PATH")
    try:
        done = subprocess.run(
            [HERE / "install"], env=_environ, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"its build did not end within {BUILD_TIMEOUT_S} s") from None
    if done.returncode:
        raise NotInstalled(f"its build failed: {done.stderr.strip()[-500:]}")
    return Path(done.stdout.strip().splitlines()[-1])


@contextmanager
def running(binary: Path, folder: Path, model: Path) -> Iterator[str]:
    """Start `ollama serve` with a home of its own, import the model, and stop it in the end."""
    address = f"127.0.0.1:{_free_port()}"
    url = f"http://{address}"
    environ = {
        "PATH": _environ["PATH"],
        "HOME": str(folder),
        "OLLAMA_HOST": address,
        "OLLAMA_MODELS": str(folder / "models"),
        "OLLAMA_NO_CLOUD": "1",
    }
    log = folder / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [binary, "serve"], env=environ, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        _wait_until_ready(url, process, log)
        _import(url, model)
        yield url
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_S)
        with contextlib.suppress(ProcessLookupError):  # its runners too, should any be left
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def lent(url: str, model: Path, name: str = MODEL) -> Iterator[str]:
    """Somebody's own server: it is lent the model if it has none of that name, and left as it was."""
    present = {entry["name"] for entry in json.loads(_ask("GET", f"{url}/api/tags"))["models"]}
    if f"{name}:latest" in present:
        yield url
        return
    _import(url, model, name)
    try:
        yield url
    finally:
        _ask("DELETE", f"{url}/api/delete", json.dumps({"model": name}).encode())


def unload(url: str, *names: str) -> None:
    """Have it forget models. Those of the same file share a runner, under the name of the first: name them all."""
    ours = {f"{name}:latest" for name in names}
    end = time.monotonic() + STOP_TIMEOUT_S
    while loaded := ours & {entry["name"] for entry in json.loads(_ask("GET", f"{url}/api/ps"))["models"]}:
        if time.monotonic() > end:
            raise RuntimeError(f"Ollama did not unload {loaded} within {STOP_TIMEOUT_S} s")
        for name in loaded:
            _ask("POST", f"{url}/api/generate", json.dumps({"model": name, "keep_alive": 0}).encode())
        time.sleep(0.05)  # between two looks; the bound is above


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < end and process.poll() is None:
        try:
            _ask("GET", f"{url}/api/version")
        except OSError:
            time.sleep(0.05)  # between two looks; the bound is above
        else:
            return
    why = "ended at once" if process.poll() is not None else f"gave no answer within {START_TIMEOUT_S} s"
    raise RuntimeError(f"ollama serve {why}: {log.read_text(errors='replace')[-1000:]}")


def _import(url: str, model: Path, name: str = MODEL) -> None:
    data = model.read_bytes()
    blob = "sha256:" + hashlib.sha256(data).hexdigest()
    try:
        _ask("HEAD", f"{url}/api/blobs/{blob}")
    except RuntimeError:  # one that it has, it answers before it is sent, and hangs up
        _ask("POST", f"{url}/api/blobs/{blob}", data)
    wanted = {"model": name, "files": {model.name: blob}, "stream": False}
    answer = json.loads(_ask("POST", f"{url}/api/create", json.dumps(wanted).encode()))
    if answer.get("status") != "success":
        raise RuntimeError(f"Ollama did not take {model.name}: {answer}")


def _ask(method: str, url: str, data: bytes | None = None) -> bytes:
    request = urllib.request.Request(url, data, method=method)
    try:
        with _opener.open(request, timeout=REQUEST_TIMEOUT_S) as response:
            body: bytes = response.read()
            return body
    except urllib.error.HTTPError as error:
        with error:
            raise RuntimeError(f"{method} {url}: {error.code} {error.read()[:300]!r}") from None
