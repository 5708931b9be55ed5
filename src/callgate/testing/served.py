"""The process that is the endpoint for tests. It ends when whoever started it lets go of its standard input."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading

from callgate.gateway import Options, serve
from callgate.settings import load_settings

DRAIN_SECONDS = 1.0


def main(home: str) -> None:
    """Serves the model in the box and nothing else; `home` takes what it keeps."""
    is_left = threading.Event()
    threading.Thread(target=_end_with_parent, args=(is_left,), name="callgate-parent", daemon=True).start()
    settings = load_settings({"discovery.timeout": 0, "detect.refresh": "off"}, environ={"CALLGATE_HOME": home})
    options = Options(port=0, model="tiny", drain=DRAIN_SECONDS)
    try:
        serve(settings, options, on_ready=lambda url: print(json.dumps({"url": url}), flush=True))
    finally:
        if is_left.is_set():  # a parent that was killed can't tidy up
            shutil.rmtree(home, ignore_errors=True)


def _end_with_parent(is_left: threading.Event) -> None:
    """A killed parent closes the pipe, too."""
    while os.read(0, 1024):
        pass
    is_left.set()
    os.kill(os.getpid(), signal.SIGTERM)
