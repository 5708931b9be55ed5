"""Through a reverse proxy as docs/deploy.md sets it up, answers come piece by piece."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from tests.gateway.command import served

PAGE = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text("utf-8")
NAME = "models.example.org"
KEY = {"Host": NAME, "Authorization": "Bearer k"}


def block(title: str) -> str:
    (found,) = re.findall(rf'^```text title="{title}"\n(.*?)^```', PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


def nginx(folder: Path, port: int, url: str) -> list[str]:
    server = re.sub(r"^ *ssl_.*\n", "", block("nginx.conf"), flags=re.MULTILINE)
    server = server.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};").replace("http://127.0.0.1:11435", url)
    own = "\n".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log;\nevents {{}}\n"
        f"http {{ access_log off;\n{own}\n{server}}}\n"
    )
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]


def caddy(folder: Path, port: int, url: str) -> list[str]:
    site = block("Caddyfile").replace(f"{NAME} {{", f"http://{NAME}:{port} {{\n    bind 127.0.0.1")
    (folder / "Caddyfile").write_text(
        f"{{\n    admin off\n}}\n{site.replace('127.0.0.1:11435', url.partition('//')[2])}"
    )
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


PROXIES = {"nginx": nginx, "caddy": caddy}


@contextmanager
def running(command: list[str], folder: Path) -> Iterator[None]:
    said = folder / "said.log"
    with said.open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log, cwd=folder) as process:
        try:
            yield
        except BaseException:
            print(said.read_text(errors="replace"))
            raise
        finally:
            process.terminate()


class Slow:
    """An OpenAI-compatible server that says one word, and the next when it is allowed to."""

    def __init__(self) -> None:
        self.may_go_on = asyncio.Event()
        self.was_left = asyncio.Event()

    async def models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            await response.write(b'data: {"choices":[{"index":0,"delta":{"content":"first"}}]}\n\n')
            await self.may_go_on.wait()
            await response.write(
                b'data: {"choices":[{"index":0,"delta":{"content":"second"},"finish_reason":"stop"}]}\n\n'
            )
            await response.write(b"data: [DONE]\n\n")
        except (asyncio.CancelledError, ConnectionError):
            self.was_left.set()
            raise
        return response


@pytest.fixture
async def slow() -> AsyncIterator[tuple[Slow, str]]:
    played = Slow()
    app = web.Application()
    app.router.add_get("/v1/models", played.models)
    app.router.add_post("/v1/chat/completions", played.chat)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield played, f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    played.may_go_on.set()
    await runner.cleanup()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


async def until_said(response: aiohttp.ClientResponse, word: bytes) -> None:
    while word not in (line := await response.content.readline()):
        assert line, f"the answer ended before {word!r}"


async def until_answers(session: aiohttp.ClientSession) -> None:
    async with asyncio.timeout(30):
        while True:
            with suppress(aiohttp.ClientConnectionError):
                async with session.get("/health") as response:
                    if response.status == 200:
                        return
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("proxy", PROXIES)
async def test_an_answer_comes_piece_by_piece_and_who_leaves_is_noticed(
    proxy: str, slow: tuple[Slow, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(proxy) is None:
        pytest.skip(f"no {proxy} here")
    monkeypatch.setenv("CALLGATE_API_KEYS", "k")
    played, upstream = slow
    port = free_port()
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hello!"}], "stream": True}
    (folder := tmp_path / "proxy").mkdir()
    with (
        served("--upstream", upstream, "--allowed-host", NAME) as server,
        running(PROXIES[proxy](folder, port, server.url), folder),
    ):
        async with aiohttp.ClientSession(
            f"http://127.0.0.1:{port}", headers=KEY, timeout=aiohttp.ClientTimeout(total=60)
        ) as session:
            await until_answers(session)
            for path in ("/v1/chat/completions", "/api/chat"):
                played.may_go_on.clear()
                async with session.post(path, json=asked) as response:
                    assert response.status == 200
                    await until_said(response, b"first")
                    played.may_go_on.set()
                    await until_said(response, b"second")

            played.may_go_on.clear()
            async with session.post("/v1/chat/completions", json=asked) as response:
                await until_said(response, b"first")
            async with asyncio.timeout(30):
                await played.was_left.wait()

            async with session.get("/v1/models", headers={"Authorization": "Bearer another"}) as response:
                assert response.status == 401
