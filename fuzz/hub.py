"""Names of models, and what a hub says of them, fed to those who read it."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import msgspec

from callgate.hub import read_hub_name
from callgate.hub.answers import expected_of, read_repository, read_summary
from callgate.hub.records import HubFile
from callgate.hub.refusals import Asked, refusal
from callgate.hub.retrying import asked_to_wait
from callgate.runtime import candidates_in, narrowed, stays_inside
from callgate.vocabulary import BadAnswer, HubRef, UsageError

EXPECTED: tuple[type[BaseException], ...] = (BadAnswer, UsageError)

_ABOUT = {
    "sha": "c0ffee",
    "gated": "auto",
    "private": False,
    "siblings": [
        {"rfilename": "m-Q4_K_M-00001-of-00002.gguf", "size": 7, "lfs": {"sha256": "a" * 64}, "blob_id": "b" * 40},
        {"rfilename": "sub/mmproj-f16.gguf", "size": None, "lfs": None, "blob_id": None},
    ],
    "gguf": {"chat_template": "{{ messages }}", "context_length": 4096},
    "headers": {"X-Error-Code": "GatedRepo", "X-Error-Message": "no", "Retry-After": "3", "ETag": '"abc"'},
}


def seeds() -> Iterable[bytes]:
    yield msgspec.json.encode(_ABOUT)
    yield b"owner/name/sub/file.gguf:Q4_K_M@refs/pr/1"
    yield b"https://huggingface.co/owner/name/resolve/main/a%20b.gguf?download=true"


def one_input(data: bytes) -> str | None:
    try:
        told = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError):
        ref = read_hub_name(data.decode("utf-8", "replace"), "https://huggingface.co")
        assert all(part is None or stays_inside(part) for part in (ref.repo, ref.file, ref.revision))
        return "a name"
    return _read(told) if isinstance(told, dict) else "no object"


def _read(told: dict[str, Any]) -> str:
    read_summary(told.get("gguf"))
    raw = told.get("headers")
    headers = {str(name): str(value) for name, value in raw.items()} if isinstance(raw, dict) else {}
    wait = asked_to_wait(headers)
    assert wait is None or wait >= 0
    assert refusal(403, headers, Asked(repo="o/n", page="p", with_token=True)).message.isprintable()
    siblings = told.get("siblings")
    entries = [entry for entry in siblings if isinstance(entry, dict)] if isinstance(siblings, list) else []
    names = [
        SimpleNamespace(**{"rfilename": "", "size": None, "lfs": None, "blob_id": None, **entry}) for entry in entries
    ]
    sha = told.get("sha")
    about = SimpleNamespace(
        siblings=names,
        sha=sha if isinstance(sha, str) else None,
        gated=told.get("gated"),
        private=told.get("private"),
    )
    repository = read_repository(cast("Any", about), HubRef("o/n"))
    assert all(stays_inside(name) for name in repository.names)
    found = candidates_in(repository.names)
    assert set(narrowed(found)) <= set(found)
    expected, tag = expected_of(HubFile("m", 7), headers.get("ETag"), headers.get("X-Linked-Size"), None)
    assert expected.size == 7
    assert "/" not in tag
    return "a repository"
