from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from callgate.detect import TemplateSandbox
from callgate.wire import HttpClient
from tests.backends import llama_server, smollm2
from tests.conftest import missing

LOADED_CONTEXT = 1024


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient() as client:
        yield client


@pytest.fixture(scope="package")
def sandbox() -> Iterator[TemplateSandbox]:
    with TemplateSandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="package")
def llama_server_url(require_engine: None, tiny_gguf: Path) -> Iterator[str]:
    """A real llama-server that has the shipped model as `my-tiny`, with a context of 1,024."""
    with llama_server.running(tiny_gguf, context=LOADED_CONTEXT, alias="my-tiny") as url:
        yield url


@pytest.fixture(scope="package")
def smollm2_gguf(require_engine: None) -> Path:
    """A real model without tools."""
    try:
        return smollm2.fetched()
    except smollm2.NotFetched as error:
        missing(f"no SmolLM2: {error}")
