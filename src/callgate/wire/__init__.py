"""The wire: the HTTP client, answers that stream, the front of remote files, endpoints and their spellings.

Importing this room is cheap: aiohttp and asyncio are loaded when a client is first used.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use
from callgate.wire.endpoints import Endpoint, is_loopback, normalise_base_url, ollama_base_url
from callgate.wire.hops import HOPS_HEADER, hops, hops_of
from callgate.wire.http import HttpClient, Patience
from callgate.wire.ndjson import Lines
from callgate.wire.ranges import read_front
from callgate.wire.sse import SseDecoder
from callgate.wire.targets import redirected, shown, shown_ref
from callgate.wire.tracing import trace_headers

if TYPE_CHECKING:
    from callgate.wire.incoming import Incoming
    from callgate.wire.posting import post_stream
    from callgate.wire.tapping import Exchange, overhearing

__all__ = [
    "HOPS_HEADER",
    "Endpoint",
    "Exchange",
    "HttpClient",
    "Incoming",
    "Lines",
    "Patience",
    "SseDecoder",
    "hops",
    "hops_of",
    "is_loopback",
    "normalise_base_url",
    "ollama_base_url",
    "overhearing",
    "post_stream",
    "read_front",
    "redirected",
    "shown",
    "shown_ref",
    "trace_headers",
]

__getattr__ = opened_on_use(
    __name__,
    {"Exchange": "tapping", "Incoming": "incoming", "overhearing": "tapping", "post_stream": "posting"},
)
