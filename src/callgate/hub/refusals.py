"""What it means when the hub says no: it has few statuses for many reasons."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from callgate.vocabulary import (
    BadStatus,
    CallgateError,
    HubRefused,
    LicenceNotAccepted,
    NoSuchRepo,
    NotFound,
    NoToken,
    TokenDenied,
)

_LONGEST_MESSAGE = 200
_GET_A_TOKEN = "run `hf auth login`, or set HF_TOKEN to a token of yours (https://huggingface.co/settings/tokens)"  # noqa: S105


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the hub was asked for, and how."""

    repo: str
    page: str
    """Where people look at it."""
    revision: str = "main"
    file: str | None = None
    with_token: bool = False

    def __str__(self) -> str:
        return f"{self.repo}/{self.file}" if self.file else self.repo


def refusal(status: int, headers: Mapping[str, str], asked: Asked) -> CallgateError:
    """`headers` of the hub's answer, in any case."""
    told = {name.lower(): value for name, value in headers.items()}
    code, words = told.get("x-error-code", ""), _harmless(told.get("x-error-message", ""))
    if words == "Access to this resource is disabled.":
        return HubRefused(f"the hub has disabled {asked.repo!r}", hint=f"see {asked.page}")
    if code == "GatedRepo":
        return _gated(status, words, asked)
    if code == "RevisionNotFound":
        return NotFound(f"{asked.repo!r} has no revision {asked.revision!r}", hint=f"see {asked.page}/tree/main")
    if code == "EntryNotFound" or (status == 404 and asked.file and code != "RepoNotFound"):
        return NotFound(f"{asked.repo!r} has no file {asked.file!r}", hint=f"callgate pull --list {asked.repo}")
    if status == 401 and asked.with_token and code != "RepoNotFound":
        return TokenDenied("the hub doesn't accept your token", hint=f"is it a valid one? {_GET_A_TOKEN}")
    if status in (401, 404):
        return no_such_repo(asked)
    if status == 403:
        return _forbidden(words, asked)
    return bad_status(status, asked)


def bad_status(status: int, asked: Asked, *, wait: float | None = None) -> BadStatus:
    if status == 429:
        hint = f"try again in {wait:.0f} s" if wait else "try again later"
        more = "" if asked.with_token else "; with a token the hub allows more"
        return BadStatus(f"the hub gets too many questions from here: {asked}", status=status, hint=hint + more)
    later = "it is its own fault: try again later" if status >= 500 else None
    return BadStatus(f"the hub answered with status {status} when asked for {asked}", status=status, hint=later)


def no_such_repo(asked: Asked, near: list[str] | None = None) -> NoSuchRepo:
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    if asked.with_token:
        return NoSuchRepo(
            f"there is no repository {asked.repo!r} on the hub, or your token may not see it",
            hint=f"{hint}is the name right? If it is private: is the token its owner's?",
        )
    return NoSuchRepo(
        f"there is no repository {asked.repo!r} on the hub, or it is private and the hub doesn't know who asks",
        hint=f"{hint}is the name right? If it is private: {_GET_A_TOKEN}",
    )


def no_token(asked: Asked) -> NoToken:
    return NoToken(
        f"{asked.repo!r} is gated: the hub gives it to people who accepted its licence, and wants to know who asks",
        hint=f"accept the licence at {asked.page}, then {_GET_A_TOKEN}",
    )


def _gated(status: int, words: str, asked: Asked) -> CallgateError:
    if not asked.with_token:
        return no_token(asked)
    if status == 401:
        return TokenDenied("the hub doesn't accept your token", hint=f"is it a valid one? {_GET_A_TOKEN}")
    waits = any(word in words.lower() for word in ("awaiting", "pending", "review"))
    if waits:
        return LicenceNotAccepted(
            f"{asked.repo!r} is gated, and its owners have yet to answer your request", hint=f"see {asked.page}"
        )
    return LicenceNotAccepted(
        f"{asked.repo!r} is gated, and you have yet to accept its licence", hint=f"open {asked.page} and accept it"
    )


def _forbidden(words: str, asked: Asked) -> CallgateError:
    if not asked.with_token:
        return no_token(asked)
    said = f": {words}" if words else ""
    return TokenDenied(
        f"your token may not read {asked.repo!r}{said}",
        hint="give it the right to read this repository (fine-grained tokens name each): "
        "https://huggingface.co/settings/tokens",
    )


def _harmless(words: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in words[:_LONGEST_MESSAGE]).strip()
