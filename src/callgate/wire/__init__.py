"""The wire: the HTTP client, the front of remote files, endpoints and their spellings.

Importing this room is cheap: aiohttp is loaded when a client is first used.
"""

from callgate.wire.http import HttpClient
from callgate.wire.ranges import read_front

__all__ = ["HttpClient", "read_front"]
