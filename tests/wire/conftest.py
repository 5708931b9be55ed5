from collections.abc import AsyncIterator

import pytest

from callgate.wire import HttpClient


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    async with HttpClient() as client:
        yield client
