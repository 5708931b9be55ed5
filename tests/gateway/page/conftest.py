"""A real Chromium, once for all tests of the page."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.conftest import missing

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Any]:
    if importlib.util.find_spec("playwright") is None:
        missing("no playwright: it is in the group browser (./dev test, without --no-engine)")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        missing("no Chromium: install it (Debian: apt-get install chromium)")
    from playwright.async_api import async_playwright

    environ = {"HOME": str(tmp_path_factory.mktemp("chromium")), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=found, env=environ)
        yield chromium
        await chromium.close()
