"""How people name a model of the hub when they want it fetched: shorter than elsewhere, or by its page's URL."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from callgate.runtime import stays_inside
from callgate.vocabulary import HubRef, UsageError

HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co")
_PATH = re.compile(
    r"/(?P<repo>[\w.-]+/[\w.-]+)"
    r"(?:/(?:resolve|blob|raw|tree)/(?P<revision>refs/(?:pr|convert)/[^/]+|[^/]+)(?:/(?P<file>.+))?)?/?",
)


def read_hub_name(text: str, endpoint: str) -> HubRef:
    """`OWNER/NAME[/FILE.gguf][:QUANT][@REVISION]`, with `hf:` or without; or the URL of a repository or a file there.

    Raises: UsageError.
    """
    text = text.strip()
    if "://" in text:
        ref = _of_url(text, endpoint)
    else:
        bare = text.removeprefix("hf:")
        for host in HOSTS:
            bare = bare.removeprefix(f"{host}/")
        ref = HubRef.parse(bare)
    return checked(ref)


def checked(ref: HubRef) -> HubRef:
    """`ref` itself, whose parts become those of URLs and paths. Raises: UsageError, if they would lead astray."""
    for part in (ref.repo, ref.file, ref.revision):
        if part is not None and not stays_inside(part):
            raise UsageError(f"{part!r} can't be a part of a model's name on the hub")
    return ref


def _of_url(text: str, endpoint: str) -> HubRef:
    wrong = UsageError(
        f"{text!r} isn't the URL of a model on the hub", hint="write OWNER/NAME, or https://huggingface.co/OWNER/NAME"
    )
    try:
        parts, hub = urlsplit(text), urlsplit(endpoint)
        places = {*HOSTS, hub.netloc.rpartition("@")[2].lower()}
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or parts.netloc.rpartition("@")[2].lower() not in places:
        raise wrong
    path = parts.path.removeprefix(hub.path.rstrip("/")) if hub.path.strip("/") else parts.path
    found = _PATH.fullmatch(unquote(path))
    if not found or {*found["repo"].split("/")} & {".", ".."}:
        raise wrong
    file = found["file"]
    if file and not file.lower().endswith(".gguf"):
        raise UsageError(f"{file!r} isn't a GGUF file", hint=f"name the repository: {found['repo']}")
    revision = found["revision"]
    return HubRef(found["repo"], file, None, None if revision == "main" else revision)
