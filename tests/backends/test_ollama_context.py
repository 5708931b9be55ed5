import json

import pytest
from aiohttp import web

from callgate.backends import OllamaBackend
from callgate.backends.ollama import context
from callgate.vocabulary import Message, Notice
from callgate.wire import HttpClient
from tests.backends.played_ollama import WEATHER, PlayedOllama, asking, end, events_of
from tests.wire.server import serving

BYTES = 3  # of a prompt, for one token as we count


def prompt(tokens: int) -> tuple[Message, ...]:
    return (Message(role="user", content="x" * (BYTES * tokens)),)


async def turns(ollama: PlayedOllama, *sizes: int, **more: object) -> list[Notice]:
    """Turns of one session, with prompts of so many tokens; gives the notices."""
    ollama.pieces = (end(),)
    async with ollama.backend() as backend:
        heard = [await events_of(backend, asking(messages=prompt(size), **more)) for size in sizes]
    return [event for events in heard for event in events if isinstance(event, Notice)]


async def test_a_small_prompt_asks_nobody_anything() -> None:
    ollama = PlayedOllama()
    assert await turns(ollama, 10, 900) == []
    assert ollama.num_ctx == [None, None]
    assert set(ollama.asked) == {"/api/chat"}


@pytest.mark.parametrize("loaded", [4096, 8192, 32768])
async def test_nothing_is_sent_while_what_is_loaded_suffices(loaded: int) -> None:
    ollama = PlayedOllama()
    ollama.loaded, ollama.longest = loaded, 65536
    assert await turns(ollama, 2900, loaded - 1100) == []
    assert ollama.num_ctx == [None, None]


async def test_what_is_asked_for_grows_in_powers_of_two_and_never_shrinks() -> None:
    ollama = PlayedOllama()
    ollama.loaded, ollama.longest = 4096, 131072
    assert await turns(ollama, 100, 4000, 100, 9000, 5000, 40000, 10) == []
    assert ollama.num_ctx == [None, 8192, 8192, 16384, 16384, 65536, 65536]


async def test_tools_count_too() -> None:
    ollama = PlayedOllama()
    ollama.longest = 131072
    await turns(ollama, 10, tools=(WEATHER,) * 200)
    assert ollama.num_ctx == [16384]


async def test_it_grows_to_the_models_end_and_no_further() -> None:
    ollama = PlayedOllama()
    ollama.loaded, ollama.longest = 4096, 6000
    [notice] = await turns(ollama, 4500, 20000)
    assert ollama.num_ctx == [6000, 6000]
    assert notice.kind == "context_too_small"
    assert "6,000" in notice.message
    assert "'m'" in notice.message


async def test_a_model_that_is_at_its_end_is_not_loaded_anew() -> None:
    ollama = PlayedOllama()
    ollama.loaded = ollama.longest = 4096
    assert [notice.kind for notice in await turns(ollama, 20000)] == ["context_too_small"]
    assert ollama.num_ctx == [None]


async def test_a_models_own_setting_counts_while_it_is_not_loaded() -> None:
    ollama = PlayedOllama()
    ollama.longest = 65536
    ollama.parameters = 'stop    "<|im_end|>"\nnum_ctx                        16384\n'
    assert await turns(ollama, 12000) == []
    assert ollama.num_ctx == [None]
    await turns(ollama, 20000)
    assert ollama.num_ctx == [None, 32768]


async def test_the_users_word_wins_and_is_not_shrunk_afterwards() -> None:
    ollama = PlayedOllama()
    ollama.loaded, ollama.longest = 4096, 131072
    async with ollama.backend() as backend:
        ollama.pieces = (end(),)
        await events_of(backend, asking(messages=prompt(9000), options={"num_ctx": 2048}))
        await events_of(backend, asking(messages=prompt(9000), extra={"options": {"num_ctx": 32768}}))
        await events_of(backend, asking(messages=prompt(9000)))
    assert ollama.num_ctx == [2048, 32768, 32768]
    assert "/api/ps" not in ollama.asked


async def test_the_server_is_asked_once_in_a_while() -> None:
    ollama = PlayedOllama()
    ollama.loaded = 8192
    await turns(ollama, *[5000] * 10)
    assert ollama.asked["/api/show"] == 1
    assert ollama.asked["/api/ps"] == 2  # before the first turn and after it


async def test_it_is_asked_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "BELIEVED_SECONDS", 0.0)
    ollama = PlayedOllama()
    ollama.loaded = 8192
    await turns(ollama, 5000, 5000)
    assert ollama.asked["/api/show"] == 2


async def test_a_context_that_was_somebody_elses_and_went_is_noticed_and_put_right() -> None:
    """Without `num_ctx` Ollama goes back to its default, whatever somebody had loaded."""
    ollama = PlayedOllama()
    ollama.loaded, ollama.longest = 32768, 65536

    async def reloads(*_: object) -> None:
        if ollama.num_ctx[-1] is None:
            ollama.loaded = 4096

    ollama.talk = reloads
    [notice] = await turns(ollama, 10000, 10000)
    assert notice.kind == "context_too_small"
    assert "4,096" in notice.message
    assert ollama.num_ctx == [None, 16384]


async def test_a_server_that_answers_nothing_else_still_chats() -> None:
    sent = []

    async def chats_only(request: web.Request) -> web.StreamResponse:
        if request.path != "/api/chat":
            return web.Response(status=500)
        sent.append(json.loads(await request.read()).get("options"))
        return web.Response(body=end())

    async with serving(("*", "/{path:.*}", chats_only)) as url, HttpClient() as http:
        events = await events_of(OllamaBackend(url, http, timeout=5), asking(messages=prompt(9000), tools=(WEATHER,)))
    assert sent == [{"num_ctx": 16384}]
    assert not [event for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize(
    "show", [None, [], {"model_info": 5, "parameters": []}, {"model_info": {"a.context_length": "x"}}]
)
async def test_what_it_says_of_itself_may_be_anything(show: object) -> None:
    async def anything(*_: object) -> object:
        return show

    fit = await context.Contexts(anything, anything).fit("m", 9000)
    assert (fit.num_ctx, fit.notice) == (16384, None)


async def test_a_prompt_that_must_be_whole_is_not_to_be_cut() -> None:
    ollama = PlayedOllama()
    ollama.loaded, ollama.longest = 4096, 6000
    [notice] = await turns(ollama, 100, 4500, 20000, whole_prompt=True)
    assert notice.kind == "context_too_small", "an old Ollama cuts it all the same"
    assert [json.loads(body).get("truncate") for body in ollama.bodies] == [None, False, False]
    await turns(ollama, 100, options={"num_ctx": 2048}, whole_prompt=True)
    assert ollama.last["truncate"] is False
    await turns(ollama, 20000)
    assert "truncate" not in ollama.last
    await turns(ollama, 20000, whole_prompt=True, extra={"truncate": True})
    assert ollama.last["truncate"] is True, "as the caller says"
