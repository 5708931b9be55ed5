"""A server behind that leads back here has none of the models that it is asked for, and says so of none of them.

So whoever names one that nobody knows could look for it for long. Before they are told that there is no such model,
the servers behind are asked for it: the question comes back here where one of them leads here, however far about.
"""

from __future__ import annotations

import asyncio
import logging
import time
from urllib.parse import quote

from callgate.gateway.failures import LOOP
from callgate.runtime import known_places
from callgate.settings import Settings
from callgate.vocabulary import BackendError, BadStatus
from callgate.wire import HttpClient, shown

log = logging.getLogger(__name__)

FRESH_SECONDS = 1.0
"""How long what was found counts, so that many wrong names are no more than one question."""
_ASK_SECONDS = 4.0
"""For a server behind, which may first ask those that it has behind itself."""
_LONGEST_NAME = 200


class Loops:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._found: BadStatus | None = None
        self._found_at = -1e9

    async def found(self, name: str) -> BadStatus | None:
        """How a server behind that leads back here answers to whoever asks it for `name`; `None`, if there is none."""
        # There is no lock: two servers that ask each other would each wait for the other.
        if time.monotonic() - self._found_at > FRESH_SECONDS:
            places = [place for place in known_places(self._settings) if place.named or place.is_local_ollama]
            async with HttpClient() as http:
                answers = await asyncio.gather(*(_asked(http, place.url, name) for place in places))
            found = next(filter(None, answers), None)
            if found and not self._found:
                log.warning("%s: it leads back to this very server", found.message)
            self._found, self._found_at = found, time.monotonic()
        return self._found


async def _asked(http: HttpClient, url: str, name: str) -> BadStatus | None:
    try:
        # Which Ollamas know, too.
        await http.get_json(f"{url}/v1/models/{quote(name[:_LONGEST_NAME], safe='')}", timeout=_ASK_SECONDS)
    except BadStatus as error:
        if error.status == LOOP:
            return BadStatus(f"{shown(url)} answered with status {LOOP}", status=LOOP)
    except BackendError:
        pass
    return None
