"""Replays one stream of `/api/chat` to whoever asks; the model's name says how: `burst:20000` or `paced:2000`.

Standard library only. Prints its port, and ends when its standard input does.
"""

import json
import socket
import sys
import threading
import time

PACE_SECONDS = 0.0005
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
TAIL = b"0\r\n\r\n"
BATCH = 64  # chunks in one write of a burst


def chunk(number: int, **more: object) -> bytes:
    """As Ollama writes them, each in an HTTP chunk of its own."""
    line = {
        "model": "burst",
        "created_at": f"2026-01-01T00:00:00.{number:09}Z",
        "message": {"role": "assistant", "content": f" word{number % 1000}"},
        "done": False,
        **more,
    }
    data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


SILENT = {"role": "assistant", "content": ""}
LAST = chunk(0, message=SILENT, done=True, done_reason="stop", prompt_eval_count=12, eval_count=34)
CHUNKS = [chunk(number) for number in range(1000)]


def answer(connection: socket.socket, model: str) -> None:
    how, _, count = model.partition(":")
    connection.sendall(HEAD)
    if how == "paced":
        for number in range(int(count)):
            connection.sendall(CHUNKS[number % 1000])
            time.sleep(PACE_SECONDS)
    else:
        batches = [b"".join(CHUNKS[start : start + BATCH]) for start in range(0, 1000 - BATCH, BATCH)]
        for number in range(int(count) // BATCH):
            connection.sendall(batches[number % len(batches)])
        connection.sendall(b"".join(CHUNKS[: int(count) % BATCH]))
    connection.sendall(LAST + TAIL)


def serve(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, connection.makefile("rb") as incoming:
        while incoming.readline().strip():
            length = 0
            while line := incoming.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            try:
                answer(connection, json.loads(incoming.read(length))["model"])
            except OSError:
                return


def accept(listener: socket.socket) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    opened = socket.create_server(("127.0.0.1", 0))
    print(opened.getsockname()[1], flush=True)
    threading.Thread(target=accept, args=(opened,), daemon=True).start()
    sys.stdin.read()
