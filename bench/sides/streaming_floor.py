"""What it takes to be woken for every piece of a paced stream and to do nothing with it: nobody's overhead."""

from __future__ import annotations

import asyncio
from time import process_time
from urllib.parse import urlsplit

END = b"0\r\n\r\n"


async def floor(url: str, model: str, count: int) -> float:
    """Seconds of processor time for one chunk."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    body = f'{{"model":"{model}"}}'.encode()
    before = process_time()
    writer.write(b"POST /api/chat HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    while not (await reader.read(1 << 16)).endswith(END):
        pass
    took = process_time() - before
    writer.close()
    await writer.wait_closed()
    return took / count
