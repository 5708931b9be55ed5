"""Pictures in a conversation."""

from __future__ import annotations

import msgspec


class Image(msgspec.Struct, frozen=True):
    """A picture, as it came from its file."""

    data: bytes
    media_type: str = "image/png"
