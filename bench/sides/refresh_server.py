"""An Ollama with 100 models, each with a chat template of its own, that takes 20 ms for each answer.

Standard library only. Prints its port, and ends when its standard input does.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MODELS = 100
SECONDS = 0.02
TEMPLATE = Path(sys.argv[1]).read_text("utf-8")
NAMES = [f"model-{number}:latest" for number in range(MODELS)]


def listed(number: int) -> dict[str, object]:
    return {
        "name": NAMES[number],
        "model": NAMES[number],
        "digest": f"{number:064x}",
        "size": 1,
        "modified_at": "2026-01-01T00:00:00Z",
    }


def shown(number: int) -> dict[str, object]:
    return {
        "template": f"{TEMPLATE}{{# {number} #}}",
        "capabilities": ["completion", "tools"],
        "details": {"family": "llama", "parameter_size": "8B", "quantization_level": "Q4_K_M"},
        "model_info": {"general.architecture": "llama", "llama.context_length": 8192},
        "modified_at": "2026-01-01T00:00:00Z",
    }


ANSWERS = {
    "/api/tags": json.dumps({"models": [listed(number) for number in range(MODELS)]}).encode(),
    "/api/ps": b'{"models":[]}',
    "/api/version": b'{"version":"0.32.1"}',
}
SHOWN = {name: json.dumps(shown(number)).encode() for number, name in enumerate(NAMES)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.answer(ANSWERS.get(self.path))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(SHOWN.get(asked["model"]))

    def answer(self, body: bytes | None) -> None:
        time.sleep(SECONDS)
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
