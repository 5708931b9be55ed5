"""What a command is given to read: a file, or standard input by the name of `-`; and options of the form K=V."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import msgspec

from callgate.vocabulary import UsageError

LARGEST_INPUT = 16 << 20


def read_json(path: str) -> object:
    """Raises: UsageError, if it can't be read, is too large, or is no JSON."""
    try:
        return msgspec.json.decode(read_bytes(path))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise UsageError(f"{_called(path)} is no JSON: {error}") from None


def read_bytes(path: str, largest: int = LARGEST_INPUT) -> bytes:
    """Raises: UsageError, if it can't be read, or is too large."""
    try:
        if path == "-":
            content = sys.stdin.buffer.read(largest + 1) if sys.stdin else b""
        else:
            with open(path, "rb") as file:
                content = file.read(largest + 1)
    except OSError as error:
        raise UsageError(f"{_called(path)} can't be read: {error.strerror}") from None
    if len(content) > largest:
        raise UsageError(f"{_called(path)} has more than {largest >> 20} MB")
    return content


def _called(path: str) -> str:
    return "standard input" if path == "-" else repr(path)


def option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    try:
        return name, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return name, value
