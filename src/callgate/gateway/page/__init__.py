"""The page at `/`, for people: every model with what is known of it and why, and a place to talk to them.

Plain files beside this one, sent as they are. They tell nothing of anybody, so they need no key: what the page shows
it asks of `/v1`, as any other client does.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from callgate.gateway.asgi import Exchange, Header
from callgate.gateway.routing import not_for

FOLDER = "/page/"
FILES = (
    "announcer.js",
    "answer.js",
    "arithmetic.js",
    "attachments.js",
    "calls.js",
    "chat.css",
    "composer.js",
    "conversation.js",
    "details.js",
    "dom.js",
    "facts.js",
    "icon.svg",
    "inline.js",
    "kept.js",
    "keys.js",
    "main.js",
    "markdown.js",
    "models.css",
    "models.js",
    "panels.js",
    "server.js",
    "sse.js",
    "style.css",
    "theme.js",
    "thread.js",
    "toolbox.js",
    "tooldialog.js",
    "tools.js",
)
PAGE_PATHS = frozenset(FOLDER + name for name in FILES)
"""What anybody may ask, besides `/`."""

_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    # Nothing in the page makes markup out of text, and with these two nothing can.
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS: tuple[Header, ...] = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    # Asked for again each time, so that no page is made of the files of two versions.
    (b"cache-control", b"no-cache"),
)


class _File(NamedTuple):
    content: bytes
    content_type: str
    etag: str


async def answer_with_page(exchange: Exchange) -> bool:
    """Whether the page or a file of it was asked for; then that is the answer. Raises: Refused, if asked wrongly.

    At `/` others are told something else, so caches must know what the answer depends on.
    """
    reads = exchange.method in ("GET", "HEAD")
    if exchange.path == "/":
        exchange.more_headers.append((b"vary", b"Accept"))
        if not reads or not _accepts_html(exchange.headers.get("accept", "")):
            return False
        await _send(exchange, _file("index.html"))
        return True
    if exchange.path not in PAGE_PATHS:
        return False
    if not reads:
        raise not_for(exchange.method, ("GET", "HEAD"))
    await _send(exchange, _file(exchange.path.removeprefix(FOLDER)))
    return True


async def _send(exchange: Exchange, file: _File) -> None:
    headers = (*_HEADERS, (b"etag", file.etag.encode()))
    if _has(exchange.headers.get("if-none-match", ""), file.etag):
        await exchange.start(304, file.content_type, headers)
        await exchange.end()
        return
    await exchange.answer(file.content, content_type=file.content_type, headers=headers)


@cache
def _file(name: str) -> _File:
    content = files(__package__).joinpath(name).read_bytes()
    return _File(content, _TYPES[name.rpartition(".")[2]], f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def _accepts_html(accept: str) -> bool:
    """`*/*` alone isn't a wish for a page: programs say it, too."""
    for wanted in accept.lower().split(","):
        kind, *parameters = (part.strip() for part in wanted.split(";"))
        if kind == "text/html":
            return not any(_is_zero(parameter) for parameter in parameters)
    return False


def _is_zero(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip() == "q" and value.strip() in ("0", "0.", "0.0", "0.00", "0.000")


def _has(if_none_match: str, etag: str) -> bool:
    given = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return etag in given or "*" in given
