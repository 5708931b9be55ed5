"""What clients may ask for and there is none of here: told in the document, refused with a reason."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callgate.vocabulary import UsageError

One = Annotated[int, Meta(extra_json_schema={"const": 1})]
NoText = Annotated[str, Meta(extra_json_schema={"maxLength": 0})]
No = Annotated[bool, Meta(extra_json_schema={"const": False})]
Zero = Annotated[int, Meta(extra_json_schema={"const": 0})]
OneText = Annotated[list[str], Meta(extra_json_schema={"minItems": 1, "maxItems": 1})]


def refuse_logprobs(wanted: bool | int | None, most: int | None) -> None:
    """Raises: UsageError, if they are wanted: what comes from a model is text and calls."""
    if wanted or most:
        raise UsageError("'logprobs' aren't to be had here", hint="leave them out", param="logprobs")
