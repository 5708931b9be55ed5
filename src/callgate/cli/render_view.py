"""How `callgate render` shows a turn to a person: mode and reason, notices, the request, the prompt."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from callgate.backends import RenderedPrompt, WireRequest
from callgate.cli.screen import Screen, printable
from callgate.runtime import Shown, tokens_of_text

"""Of English; other languages have fewer."""
LONGEST_PICTURE = 60
DEEPEST_PICTURE = 5
"""A message's content has parts, which have an `image_url` with a `url`."""
_STYLE = {"native": "good", "emulated": "doubt", "off": "bad"}
_PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
"""Unicode has a picture for each control character."""
_SPECIAL = re.compile(r"<\|[^|<>\s]{1,60}\|>|<｜[^<>\s]{1,60}｜>|</?[a-z][a-z0-9_.-]{0,30}>|\[/?[A-Z][A-Z0-9_]{1,30}\]")
"""What most special tokens and tags look like."""
_KEY = re.compile(r'^(\s*)("(?:[^"\\]|\\.)*")(?=: )')


def show_turn(screen: Screen, shown: Shown) -> None:
    mode = screen.styled(shown.mode, _STYLE[shown.mode])
    screen.line(f"{screen.styled(printable(shown.name), 'strong')}: {mode}")
    screen.wrapped(printable(shown.reason), indent=2, style="dim")
    for notice in shown.notices:
        if notice.message.endswith(shown.reason):  # which is told already
            continue
        screen.wrapped(printable(notice.message), indent=4, mark=screen.styled("!", "doubt"))
    if shown.wire:
        _show_request(screen, shown.wire)
    if shown.prompt:
        _show_prompt(screen, shown.prompt, shown.context_length)


def _show_request(screen: Screen, wire: WireRequest) -> None:
    screen.line()
    screen.line(f"{screen.styled('request', 'strong')}  POST {printable(wire.url)}")
    body = msgspec.json.decode(wire.body)
    seen = {**body, "messages": _without_pictures(body.get("messages"))}
    for line in msgspec.json.format(msgspec.json.encode(seen), indent=2).decode().split("\n"):
        screen.line(_KEY.sub(lambda key: key[1] + screen.styled(key[2], "strong"), printable(line)))


def _show_prompt(screen: Screen, prompt: RenderedPrompt, context: int | None) -> None:
    size = f"about {tokens_of_text(prompt.text):,} tokens" + (f" of {context:,}" if context else "")
    screen.line()
    screen.line(f"{screen.styled('prompt', 'strong')}  {screen.styled(f'{size}, rendered by {prompt.by}', 'dim')}")
    for line in prompt.text.split("\n"):
        seen = printable(line.translate(_PICTURES))
        screen.line(_SPECIAL.sub(lambda token: screen.styled(token[0], "doubt"), seen))


def _without_pictures(value: Any, depth: int = 0) -> Any:
    """Messages without the thousands of letters that a picture takes, whose place is under `images` or `url`."""
    match value:
        case {"images": [*pictures], **rest}:
            return {**rest, "images": [_shortened(picture) for picture in pictures]}
        case {"url": str(url), **rest}:
            return {**rest, "url": _shortened(url)}
        case dict() if depth < DEEPEST_PICTURE:
            return {key: _without_pictures(inner, depth + 1) for key, inner in value.items()}
        case list() if depth < DEEPEST_PICTURE:
            return [_without_pictures(inner, depth + 1) for inner in value]
    return value


def _shortened(picture: Any) -> Any:
    if not isinstance(picture, str) or len(picture) <= LONGEST_PICTURE:
        return picture
    return f"{picture[:LONGEST_PICTURE]}… ({len(picture):,} characters)"
