from __future__ import annotations

import pytest
from aiohttp import web

from callgate.backends import Embeds, OllamaBackend
from callgate.backends.embeddings import vectors_in
from callgate.vocabulary import BadAnswer, NotFound
from callgate.wire import HttpClient
from tests.wire.server import serving


def test_vectors_are_read_in_both_forms_and_in_their_order() -> None:
    assert vectors_in({"embeddings": [[1, 2]]}, "x", 1) == ([[1.0, 2.0]], None)
    openai = {"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]}
    assert vectors_in(openai, "x", 2) == ([[1.0], [2.0]], None)


@pytest.mark.parametrize(
    ("counted", "tokens"),
    [
        ({"prompt_eval_count": 3}, 3),
        ({"usage": {"prompt_tokens": 4, "total_tokens": 4}}, 4),
        ({"usage": {"prompt_tokens": 0}}, None),
        ({"usage": {"prompt_tokens": "4"}}, None),
        ({"usage": None}, None),
    ],
)
def test_tokens_are_told_where_somebody_counted(counted: dict[str, object], tokens: int | None) -> None:
    assert vectors_in({"embeddings": [[1]], **counted}, "x", 1).tokens == tokens


@pytest.mark.parametrize("answer", [None, [], {}, {"embeddings": 3}, {"data": [{}]}, {"embeddings": [[1], [2]]}])
def test_what_is_none_is_a_bad_answer(answer: object) -> None:
    with pytest.raises(BadAnswer):
        vectors_in(answer, "x", 1)


async def test_an_ollama_embeds_or_says_that_it_has_no_such_model() -> None:
    async def embed(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body["model"] != "good":
            return web.json_response({"error": f"model '{body['model']}' not found"}, status=404)
        return web.json_response({"embeddings": [[0.5]] * len(body["input"])})

    async with serving(("POST", "/api/embed", embed)) as url, HttpClient() as http:
        backend = OllamaBackend(url, http, timeout=5)
        assert isinstance(backend, Embeds)
        assert await backend.embed("good", ["a", "b"]) == ([[0.5], [0.5]], None)
        with pytest.raises(NotFound):
            await backend.embed("bad", ["a"])
