"""A hub on loopback, faithful enough for `huggingface_hub`: repositories of real files, whose large ones lie on another
host; gates, tokens, and faults on demand.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from aiohttp import web

from tests.wire.server import serving

TOKEN = "hf_goodtoken"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
_PIECE = 64 << 10

Content = bytes | Path


@dataclass
class Repo:
    """`files` by name; a path is served from disk, which may have holes."""

    files: dict[str, Content] = field(default_factory=dict)
    gated: bool | str = False
    private: bool = False
    accepted: bool = True
    """The token's owner has accepted the licence."""
    commit: str = COMMIT
    gguf: dict[str, Any] | None = None
    """The hub's own summary."""
    lies: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What the hub says falsely of a file: `size`, `sha256`."""
    listed: list[str] | None = None
    """The names that it lists, if they are others than those of `files`."""
    plain: bool = False
    """Its files are small ones, which git keeps itself: no LFS."""


Fault = Callable[[web.Request, "PlayedHub"], Awaitable[web.StreamResponse | None]]


class PlayedHub:
    def __init__(self, **repos: Repo) -> None:
        self.repos = {name.replace("__", "/"): repo for name, repo in repos.items()}
        self.url = ""
        self.storage = ""
        self.ranges = True
        self.redirects = True
        self.requests: list[web.Request] = []
        self.stored: list[web.Request] = []
        self.sent = 0
        """Bytes of files."""
        self.on_sent: Callable[[], None] = lambda: None
        self.fault: Fault | None = None
        """Asked before each answer of the storage host."""
        self.api_fault: Fault | None = None
        self.slow = 0.0
        """Seconds for each 64 kB."""
        self.hashes: dict[int, str] = {}
        """By the content's identity."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[PlayedHub]:
        routes = (("*", "/{path:.*}", self._store),)
        async with serving(*routes) as storage, serving(("*", "/{path:.*}", self._answer)) as url:
            self.url, self.storage = url, storage
            yield self

    def paths(self, start: str = "") -> list[str]:
        return [request.raw_path for request in self.requests if request.path.startswith(start)]

    def sha256(self, repo: str, file: str) -> str:
        content = self.repos[repo].files[file]
        if id(content) not in self.hashes:
            with content.open("rb") if isinstance(content, Path) else _Opened(content) as opened:
                self.hashes[id(content)] = hashlib.file_digest(opened, "sha256").hexdigest()
        return str(self.repos[repo].lies.get(file, {}).get("sha256", self.hashes[id(content)]))

    def size(self, repo: str, file: str) -> int:
        content = self.repos[repo].files[file]
        true = content.stat().st_size if isinstance(content, Path) else len(content)
        return int(self.repos[repo].lies.get(file, {}).get("size", true))

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        if self.api_fault and (answer := await self.api_fault(request, self)):
            return answer
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and token != TOKEN:
            return refused(401, "", "Invalid credentials in Authorization header")
        path = unquote(request.rel_url.raw_path)
        if path == "/api/models":
            return self._search(request)
        if about := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", path):
            return self._about(request, about[1], about[2] or "main", bool(token))
        if file := re.fullmatch(r"/([^/]+/[^/]+)/resolve/((?:refs/pr/)?[^/]+)/(.+)", path):
            return await self._file(request, file[1], file[2], file[3], bool(token))
        return web.json_response({"error": "not found"}, status=404)

    def _search(self, request: web.Request) -> web.Response:
        author, search = request.query.get("author"), request.query.get("search", "").lower()
        public = [name for name, repo in self.repos.items() if not repo.private]
        owned = [name for name in public if not author or name.startswith(author + "/")]
        names = [name for name in owned if search in name.lower()]
        return web.json_response([{"id": name, "modelId": name} for name in names])

    def _visible(self, name: str, known: bool) -> Repo | web.Response:
        repo = self.repos.get(name)
        if repo is None or (repo.private and not known):
            return refused(404 if known else 401, "RepoNotFound", "Repository not found")
        return repo

    def _about(self, request: web.Request, name: str, revision: str, known: bool) -> web.Response:
        repo = self._visible(name, known)
        if isinstance(repo, web.Response):
            return repo
        if revision not in ("main", repo.commit, "refs/pr/1"):
            return refused(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        expand = request.query.getall("expand", []) + request.query.getall("expand[]", [])
        if expand:
            told = {"gguf": repo.gguf} if "gguf" in expand and repo.gguf else {}
            return web.json_response({"id": name, "_id": "0", **told})
        names = list(repo.files) if repo.listed is None else repo.listed
        siblings = [self._sibling(name, file, "blobs" in request.query) for file in names]
        about = {"id": name, "modelId": name, "sha": repo.commit, "gated": repo.gated, "private": repo.private}
        return web.json_response({**about, "siblings": siblings})

    def _sibling(self, name: str, file: str, with_blobs: bool) -> dict[str, Any]:
        told: dict[str, Any] = {"rfilename": file}
        if with_blobs and file in self.repos[name].files:
            told.update(size=self.size(name, file), blobId=self._git(name, file))
            if not self.repos[name].plain:
                told["lfs"] = {"size": told["size"], "sha256": self.sha256(name, file), "pointerSize": 134}
        return told

    def _git(self, name: str, file: str) -> str:
        content = self.repos[name].files[file]
        if isinstance(content, Path):
            return "f" * 40
        return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()

    async def _file(self, request: web.Request, name: str, revision: str, file: str, known: bool) -> web.StreamResponse:
        repo = self._visible(name, known)
        if isinstance(repo, web.Response):
            return repo
        if revision not in ("main", repo.commit, "refs/pr/1"):
            return refused(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        if repo.gated and not known:
            return refused(401, "GatedRepo", f"Access to model {name} is restricted. You must be authenticated")
        if repo.gated and not repo.accepted:
            wait = "Your request to access it is awaiting a review" if repo.gated == "manual" else "Visit the page"
            return refused(403, "GatedRepo", f"Access to model {name} is restricted. {wait}")
        if file not in repo.files:
            return refused(404, "EntryNotFound", "Entry not found")
        headers = {"X-Repo-Commit": repo.commit}
        if repo.plain:
            headers["ETag"] = f'"{self._git(name, file)}"'
            return await self._serve(request, repo.files[file], headers)
        headers["X-Linked-Size"] = str(self.size(name, file))
        headers["X-Linked-ETag"] = f'"{self.sha256(name, file)}"'
        if not self.redirects:
            return await self._serve(request, repo.files[file], {**headers, "ETag": headers["X-Linked-ETag"]})
        headers["Location"] = f"{self.storage}/{name}/{file}?signature=a%2Bb"
        return web.Response(status=302, headers=headers)

    async def _store(self, request: web.Request) -> web.StreamResponse:
        self.stored.append(request)
        if self.fault and (answer := await self.fault(request, self)):
            return answer
        owner, name, file = unquote(request.rel_url.raw_path).removeprefix("/").split("/", 2)
        if request.rel_url.raw_query_string != "signature=a%2Bb":
            return web.Response(status=403)
        return await self._serve(request, self.repos[f"{owner}/{name}"].files[file], {})

    async def _serve(self, request: web.Request, content: Content, headers: Mapping[str, str]) -> web.StreamResponse:
        size = content.stat().st_size if isinstance(content, Path) else len(content)
        start, end, status, more = 0, size, 200, dict(headers)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range", ""))
        if asked and self.ranges:
            start, end = int(asked[1]), min(int(asked[2] or size) + 1, size)
            if start >= size:
                return web.Response(status=416, headers={"Content-Range": f"bytes */{size}"})
            status, more["Content-Range"] = 206, f"bytes {start}-{end - 1}/{size}"
        response = web.StreamResponse(status=status, headers={**more, "Content-Length": str(end - start)})
        await response.prepare(request)
        if request.method != "HEAD":
            await self._send(response, content, start, end)
        return response

    async def _send(self, response: web.StreamResponse, content: Content, start: int, end: int) -> None:
        with content.open("rb") if isinstance(content, Path) else _Opened(content) as file:
            file.seek(start)
            while start < end:
                piece = file.read(min(_PIECE, end - start))
                start += len(piece)
                self.sent += len(piece)
                self.on_sent()
                await response.write(piece)
                if self.slow:
                    await asyncio.sleep(self.slow)


class _Opened:
    def __init__(self, content: bytes) -> None:
        import io

        self._file = io.BytesIO(content)

    def __enter__(self) -> Any:
        return self._file

    def __exit__(self, *_: object) -> None: ...


def refused(status: int, code: str, message: str, **headers: str) -> web.Response:
    told = {"X-Error-Message": message, **({"X-Error-Code": code} if code else {}), **headers}
    return web.json_response({"error": message}, status=status, headers=told)
