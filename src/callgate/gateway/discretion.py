"""Clients needn't know how the network behind is built, nor where files lie: that stays in the log."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from callgate.vocabulary import ModelRef
from callgate.wire import is_loopback, shown_ref

BEHIND = "a server behind"
_URL = re.compile(r"""\bhttps?://(?:\[[^\s\]]{1,80}\])?[^\s'"<>()\[\],;]{0,2000}""", re.IGNORECASE)
_HOUSE = (".local", ".lan", ".internal", ".home.arpa", ".intranet", ".corp")


def discreet(text: str) -> str:
    """Without URLs of the inner network. Those of this very machine tell nobody anything, and may help."""
    return _URL.sub(lambda found: _said(found[0]), text) if "://" in text else text


def discreet_name(ref: ModelRef) -> str:
    """What the model is called, without where its file lies."""
    return os.path.basename(ref.name.partition("?")[0]) if ref.scheme == "file" else ref.name


def discreet_ref(ref: ModelRef) -> str:
    """The same, with where else it is."""
    return discreet_name(ref) if ref.scheme == "file" else shown_ref(ref)


def _said(url: str) -> str:
    end = url.rstrip(".:!?")  # of the sentence
    return BEHIND + url[len(end) :] if _is_inner(end) else url


def _is_inner(url: str) -> bool:
    try:
        if is_loopback(url):
            return False
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return True
    try:
        return not ip_address(host.partition("%")[0]).is_global
    except ValueError:
        return "." not in host or host.endswith(_HOUSE)
