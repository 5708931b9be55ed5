"""LiteLLM's proxy with one worker, in front of a server.

    gateway_litellm.py UPSTREAM FOLDER

As fast as it goes: without keys, a database, or a log. Says {"url", "version"} as soon as it answers.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path
from urllib.request import urlopen

MODELS = ("qwen3-burst", "qwen3-paced")


def say_when_ready(url: str, output: int) -> None:
    while True:
        try:
            with urlopen(f"{url}/health/liveliness", timeout=2):
                break
        except OSError:
            time.sleep(0.2)
    said = {"url": url, "version": f"LiteLLM {version('litellm')}"}
    os.write(output, json.dumps(said).encode() + b"\n")


def main() -> None:
    upstream, folder = sys.argv[1], Path(sys.argv[2])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    served = [
        {
            "model_name": name,
            "litellm_params": {"model": f"openai/{name}", "api_base": f"{upstream}/v1", "api_key": "none"},
        }
        for name in MODELS
    ]
    config = folder / "litellm.yaml"
    config.write_text(json.dumps({"model_list": served, "litellm_settings": {"telemetry": False}}), "utf-8")
    os.environ |= {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # or else it asks the network for prices
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        "LITELLM_LOG": "CRITICAL",
    }
    # It tells of every request, and nobody would read that.
    output = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    threading.Thread(target=say_when_ready, args=(f"http://127.0.0.1:{port}", output), daemon=True).start()
    from litellm.proxy.proxy_cli import run_server

    words = ["--config", str(config), "--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
    run_server(words)


if __name__ == "__main__":
    main()
