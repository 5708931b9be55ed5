"""An MCP server over stdio, by hand, so that it can do what no decent server does. Its argument says how it lists."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

PICTURE = "iVBORw0KGgo="
tools = ["echo", "crash", "hang", "big", "fail", "refuse", "picture", "structured", "both", "grow", "cancelled"]
tools += ["backwards", "nameless", "long_notice", "endless_line", "garbage", "odd", "environment", "spawn", "deaf"]
cancelled: list[Any] = []
running: dict[Any, str] = {}
speaking = threading.Lock()


def say(message: dict[str, Any]) -> None:
    with speaking:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def described(name: Any, schema: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"It is {name}.", "inputSchema": schema or {"type": "object"}, **more}


def listed(how: str, cursor: str | None) -> dict[str, Any]:
    if how == "pages":
        page = int(cursor or 0)
        return {"tools": [described(tools[page])], **({"nextCursor": str(page + 1)} if page < 4 else {})}
    if how == "endless":
        page = int(cursor or 0)
        return {"tools": [described(f"tool_{page}")], "nextCursor": str(page + 1)}
    if how == "circle":
        return {"tools": [described("echo")] if cursor is None else [], "nextCursor": "again"}
    if how == "many":
        return {"tools": [described(f"tool_{number}") for number in range(10_000)]}
    if how == "bad":
        bad = [
            described("no_schema", "none"),
            described("array", {"type": "array"}),
            described("wrong", {"type": "object", "properties": {"a": {"type": "nonsense"}}}),
            described("bell\a"),
            described("x" * 1000),
            described(""),
            described(7),
            described("echo"),
            {"name": "bare"},
            "no tool",
        ]
        regex = {"type": "object", "properties": {"result": {"type": "string", "pattern": "^(a+)+$"}}}
        return {"tools": [described("echo", outputSchema=regex), *bad, described("fail")]}
    if how == "nothing":
        return {"tools": "none"}
    return {"tools": [described(name) for name in tools]}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


def called(request: Any, name: str, arguments: dict[str, Any]) -> None:
    result: dict[str, Any]
    if name == "echo":
        result = text(json.dumps(arguments))
    elif name == "crash":
        print("it hurts, says the key " + os.environ.get("KEY", ""), file=sys.stderr)
        sys.stderr.flush()
        os._exit(3)
    elif name == "hang":
        return
    elif name == "big":
        result = text("x" * int(arguments.get("size", 10_000_000)))
    elif name == "backwards":
        result = text("x" * int(arguments["size"]))
        sys.stdout.write(json.dumps({"result": result, "jsonrpc": "2.0", "id": request}) + "\n")
        sys.stdout.flush()
        return
    elif name == "nameless":
        sys.stdout.write(json.dumps({"result": text("x" * int(arguments["size"])), "id": request, "more": 1}) + "\n")
        sys.stdout.flush()
        return
    elif name == "long_notice":
        words = "x" * int(arguments["size"])
        say({"id": request, "method": "sampling/createMessage", "params": {"messages": words}})
        say({"method": "notifications/message", "params": {"level": "info", "data": words}})
        print(words, flush=True)
        result = text("after it")
    elif name == "fail":
        result = text("the disk is full", isError=True)
    elif name == "refuse":
        say({"id": request, "error": {"code": -32602, "message": "no\x1b[31m such thing"}})
        return
    elif name == "picture":
        content = [
            {"type": "text", "text": "look:"},
            {"type": "image", "data": PICTURE, "mimeType": "image/png"},
            {"type": "image", "data": "%%%", "mimeType": "image/png"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource_link", "name": "log", "uri": "file:///log", "mimeType": "text/plain"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA", "mimeType": "a/b"}},
        ]
        result = {"content": content}
    elif name == "structured":
        result = {"content": [], "structuredContent": {"degrees": 21}}
    elif name == "both":
        result = text('{"degrees": 21}', structuredContent={"degrees": 21})
    elif name == "grow":
        tools.append("grown")
        say({"method": "notifications/tools/list_changed"})
        result = text("done")
    elif name == "cancelled":
        result = text(json.dumps(cancelled))
    elif name == "endless_line":
        for _ in iter(int, 1):
            sys.stdout.write("x" * 1_000_000)
            sys.stdout.flush()
        return
    elif name == "garbage":
        sys.stdout.write("Loading …\n{not json\n\n[]\n")
        result = text("after garbage")
    elif name == "odd":
        result = {"content": [{"type": "hologram", "data": 1}]}
    elif name == "environment":
        result = text(json.dumps(dict(os.environ)))
    elif name == "spawn":  # a child that nothing but a kill ends
        code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        result = text(json.dumps([os.getpid(), child.pid]))
    elif name == "deaf":
        say({"id": request, "result": text("deaf from now on")})
        time.sleep(600)
        return
    else:
        say({"id": request, "error": {"code": -32601, "message": f"no tool {name}"}})
        return
    say({"id": request, "result": result})


def main(how: str) -> None:
    print("hello from the raw server", file=sys.stderr, flush=True)
    if how == "broken":
        sys.exit("ImportError: no module named 'nothing'")
    if how == "silent":
        time.sleep(600)
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if method == "initialize":
            capabilities = {"tools": {"listChanged": True}}
            info = {"name": "raw", "version": "1"}
            version = params["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
            say({"id": message["id"], "result": result})
        elif method == "tools/list":
            say({"id": message["id"], "result": listed(how, params.get("cursor"))})
        elif method == "tools/call":
            running[message["id"]] = params["name"]
            called(message["id"], params["name"], params.get("arguments") or {})
        elif method == "notifications/cancelled":
            cancelled.append(running.get(params["requestId"]))
        elif "id" in message and method:
            say({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
