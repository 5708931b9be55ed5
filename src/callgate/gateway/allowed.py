"""What the owner lets in by name: hosts and origins, as clients and browsers write them."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from callgate.vocabulary import UsageError

_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_PORTS = {"http": 80, "https": 443}
_ORIGIN_HINT = "write https://app.example.org, with the port if it has one; * is any page"


def allowed_host(text: str) -> str:
    """As it stands in `Host`, without a port. Raises: UsageError, if none could be like that."""
    name = text.strip().lower()
    try:
        return str(ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        pass
    name = name.removesuffix(".")
    if not _NAME.fullmatch(name):
        hint = "write the name alone, without http:// and without a port: models.example.org"
        raise UsageError(f"{text!r} is no name that clients could call this machine by", hint=hint)
    return name


def allowed_origin(text: str) -> str:
    """As browsers send it; `*` is any. Raises: UsageError, if no page is from there."""
    if text == "*":
        return text
    problem = f"{text!r} is no origin of a web page"
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UsageError(problem, hint=_ORIGIN_HINT) from None
    if not (host and _SCHEME.fullmatch(parts.scheme) and "@" not in parts.netloc):
        raise UsageError(problem, hint=_ORIGIN_HINT)
    shown = f"[{host}]" if ":" in host else host
    origin = f"{parts.scheme}://{shown}" + ("" if port in (None, _PORTS.get(parts.scheme)) else f":{port}")
    if not origin.isascii() or parts.path or parts.query or parts.fragment:
        raise UsageError(f"{problem}, which has no path", hint=f"write {origin}" if origin.isascii() else _ORIGIN_HINT)
    return origin
