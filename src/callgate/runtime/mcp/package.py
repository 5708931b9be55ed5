"""The official `mcp` package: loaded when a server is first opened, since it takes longer than all the rest of us."""

from __future__ import annotations

import logging
import os
import threading

from callgate.runtime.own_threads import in_own_thread
from callgate.vocabulary import UsageError

_loading = threading.Lock()
_loaded = False


async def load_package() -> None:
    """Loads it without holding up the event loop. Raises: UsageError, if it isn't installed."""
    if not _loaded:
        await in_own_thread(_load, name="mcp-package")


def _load() -> None:
    global _loaded  # noqa: PLW0603 - so is an import
    with _loading:
        if _loaded:
            return
        try:
            import mcp.client.client
            import mcp.client.stdio
            import mcp.client.streamable_http
        except ImportError:
            raise UsageError(
                "MCP servers need the package 'mcp', which isn't installed, or is older than its version 2.3",
                hint="pip install 'callgate[mcp]'",
            ) from None
        _quieten(os.path.dirname(mcp.__file__))
        _loaded = True


def _quieten(package: str) -> None:
    """It logs whole messages, with arguments and tokens in them, and prints its worries where no handler is set."""
    for name in ("mcp", "httpx2", "httpcore2"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:  # else somebody wants to hear it
            logger.setLevel(logging.CRITICAL + 1)
    # A name that others may have, too.
    logging.getLogger("client").addFilter(lambda record: not record.pathname.startswith(package))
