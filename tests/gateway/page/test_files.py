"""The files of the page as they are sent, without a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from callgate.gateway import Options
from callgate.gateway.page import FILES, PAGE_PATHS
from tests.gateway.running import gateway

FOLDER = Path(__file__).parents[3] / "src" / "callgate" / "gateway" / "page"
HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize("accept", [HTML, "text/html", "TEXT/HTML;q=0.5", "application/json, text/html"])
async def test_whoever_accepts_html_gets_the_page(accept: str) -> None:
    async with gateway() as gate:
        answered = await gate.get("/", accept=accept)
        assert answered.status == 200
        assert answered.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answered.headers["Vary"] == "Accept"
        assert answered.body.startswith(b"<!doctype html>")


@pytest.mark.parametrize("accept", ["*/*", "application/json", "", "text/html;q=0, */*", "text/htmlx"])
async def test_everybody_else_is_told_that_ollama_is_running(accept: str) -> None:
    async with gateway() as gate:
        answered = await gate.get("/", accept=accept)
        assert (answered.status, answered.body) == (200, b"Ollama is running")
        assert answered.headers["Vary"] == "Accept"
        assert (await gate.ask("HEAD", "/", accept=accept)).status == 200


async def test_the_page_trusts_nothing_from_elsewhere() -> None:
    async with gateway() as gate:
        for path in ("/", *sorted(PAGE_PATHS)):
            headers = (await gate.get(path, accept=HTML)).headers
            policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
            assert policy["default-src"] == "'none'"
            assert {policy[name] for name in ("script-src", "style-src", "connect-src")} == {"'self'"}
            assert policy["img-src"] == "'self' data:"
            assert {policy[name] for name in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "no-referrer"


async def test_files_have_their_types_and_are_sent_once() -> None:
    types = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}
    async with gateway() as gate:
        for name in FILES:
            first = await gate.get(f"/page/{name}")
            assert first.headers["Content-Type"] == types[name.rpartition(".")[2]]
            assert first.body == (FOLDER / name).read_bytes()
            etag = first.headers["ETag"]
            for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
                again = await gate.get(f"/page/{name}", if_none_match=known)
                assert (again.status, again.body) == (304, b"")
            changed = await gate.get(f"/page/{name}", if_none_match='"other"')
            assert changed.status == 200
            head = await gate.ask("HEAD", f"/page/{name}")
            assert (head.status, head.body, head.headers["ETag"]) == (200, b"", etag)


async def test_only_files_of_the_page_are_sent_and_only_to_be_read() -> None:
    async with gateway() as gate:
        for path in ("/page/", "/page/__init__.py", "/page/index.html", "/page/nothing.js", "/page/%2e%2e/app.py"):
            assert (await gate.get(path)).status == 404, path
        refused = await gate.post("/page/main.js", {})
        assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")


async def test_the_page_needs_no_key_and_what_it_asks_does() -> None:
    async with gateway(Options(keys=("secret",))) as gate:
        assert (await gate.get("/", accept=HTML)).status == 200
        assert (await gate.get("/page/main.js")).status == 200
        assert (await gate.get("/v1/models")).status == 401
        assert (await gate.get("/page/nothing.js")).status == 401
        assert (await gate.get("/", accept=HTML, host="evil.example")).status == 403


def test_every_file_in_the_folder_is_named() -> None:
    there = {path.name for path in FOLDER.iterdir() if path.suffix in (".js", ".css", ".svg")}
    assert there == set(FILES)


def test_modules_load_nothing_from_elsewhere_and_make_no_markup() -> None:
    for path in FOLDER.glob("*.*"):
        text = path.read_text("utf-8")
        if path.suffix == ".js":
            imported = set(re.findall(r'^import .*? from "\./(.*?)";$', text, re.MULTILINE))
            assert imported <= set(FILES), path.name
            assert text.count("\nimport ") + text.startswith("import ") == len(imported), path.name
        for unwanted in (r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", r"\beval\(|new Function"):
            assert not re.search(unwanted, text), path.name
        addresses = set(re.findall(r"https?://[^\s\"'<)]*", text)) - {"http://www.w3.org/2000/svg"}
        assert not addresses, path.name
    page = (FOLDER / "index.html").read_text("utf-8")
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", page)
    links = set(re.findall(r'(?:src|href)="([^#"]+)"', page))
    assert links <= {f"page/{name}" for name in FILES}, "relative, so that a proxy may serve it under a path of its own"
