"""What messages of agents are made of: parts of every kind, pictures among them, and what nobody here understands.

Agents are written for servers that have more than we do. What can't be met is left out and named in a notice.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from callgate.vocabulary import Image

MOST_MESSAGES = 100_000
"""Or items, of one request."""
_DATA_URL = "data:"

Part = Annotated[
    dict[str, Any],
    Meta(description="What is of a type that isn't known is left out, and a notice names it."),
]


def picture(data: object, media_type: object = None) -> Image | None:
    """A picture in base64, or as a data: URL. Pictures elsewhere aren't fetched."""
    if not isinstance(data, str):
        return None
    if data.startswith(_DATA_URL):
        head, _, data = data.partition(",")
        media_type = head.removeprefix(_DATA_URL).partition(";")[0]
    try:
        content = b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return (
        Image(content, media_type if isinstance(media_type, str) and media_type else "image/png") if content else None
    )


def is_elsewhere(address: object) -> bool:
    return isinstance(address, str) and address[:8].lower().startswith(("http://", "https://"))


def text_in(part: Mapping[str, Any], key: str) -> str:
    """Empty, if there is none."""
    value = part.get(key)
    return value if isinstance(value, str) else ""
