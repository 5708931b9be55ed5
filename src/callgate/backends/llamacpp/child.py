"""The child process in which llama.cpp runs one model: a crash of it is no crash of ours.

It reads its order from standard input, loads the model, and reports the URL of its HTTP server on standard output. What
llama.cpp has to say goes to standard error.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import msgspec

from callgate.backends.llamacpp.parentage import die_with, when_input_ends
from callgate.backends.llamacpp.spec import EngineSpec, Order, Report

ONLY_WARNINGS = 2
PROMPT_CACHE_MB = 256
"""For prompts of earlier conversations. llama.cpp would take up to 8 GiB that no budget knows of."""
HTTP_THREADS = 4


def main() -> None:
    reports = os.dup(1)
    os.dup2(2, 1)  # whatever prints there
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a key that is pressed is for our parent
    order = msgspec.json.decode(_first_line(), type=Order)
    die_with(order.parent)
    when_input_ends(lambda: os._exit(0))  # at once: llama.cpp's own end can hang
    try:
        server = _started(order.spec, order.key)
        report = Report(url=server.listening_address)
    except ValueError as error:
        report = Report(error=str(error))
    except RuntimeError:  # llama.cpp has said why
        report = Report(error="")
    os.write(reports, msgspec.json.encode(report) + b"\n")
    if report.url is None:
        os._exit(1)
    threading.Event().wait()  # for the end, which comes from elsewhere


def _first_line() -> bytes:
    """No byte of what follows, which somebody else waits for."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    return line


def _started(spec: EngineSpec, key: str) -> Any:
    # Threads that wait for work would burn the cores that others work on.
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = spec.path
    wanted.model_alias = {spec.name}
    wanted.hostnames, wanted.port, wanted.api_keys = ["127.0.0.1"], 0, [key]
    wanted.n_threads_http = HTTP_THREADS
    wanted.n_ctx, wanted.n_parallel = spec.context, 1
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = spec.threads
    wanted.use_jinja, wanted.warmup, wanted.fit_params, wanted.ui = True, False, False, False
    wanted.verbosity = ONLY_WARNINGS
    wanted.cache_ram_mib = PROMPT_CACHE_MB
    if spec.template is not None:
        wanted.chat_template = spec.template
    if spec.gpu_layers is not None:
        wanted.n_gpu_layers = spec.gpu_layers
    if spec.flash_attention is not None:
        word = "ENABLED" if spec.flash_attention else "DISABLED"
        wanted.flash_attn_type = _named(xllamacpp.llama_flash_attn_type, f"LLAMA_FLASH_ATTN_TYPE_{word}", word)
    if spec.kv_type is not None:
        kind = _named(xllamacpp.ggml_type, f"GGML_TYPE_{spec.kv_type.upper()}", spec.kv_type)
        wanted.cache_type_k = wanted.cache_type_v = kind
    if spec.projector is not None:
        wanted.mmproj.path = spec.projector
    if spec.embedding:
        wanted.embedding = True
        wanted.n_batch = wanted.n_ubatch = spec.context  # a text is embedded in one go
    if spec.pooling is not None:
        name = f"LLAMA_POOLING_TYPE_{spec.pooling.upper()}"
        wanted.pooling_type = _named(xllamacpp.llama_pooling_type, name, spec.pooling)
    return xllamacpp.Server(wanted)


def _named(kind: Any, name: str, shown: str) -> Any:
    """A member of one of llama.cpp's enumerations. Raises: ValueError, if it has none of that name."""
    try:
        return kind[name]
    except KeyError:
        raise ValueError(f"llama.cpp knows no {shown!r} there") from None
