from __future__ import annotations

from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime.servers_seen import SeenServer, _count, look_at_servers
from callgate.vocabulary import BackendError, Unreachable
from tests.runtime.played import NOBODY, WITH_TOOLS, PlayedOllama, hangs, settings, talks_garbage
from tests.wire.server import Handler, serving


def says(content: object, status: int = 200, **headers: str) -> Handler:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(
            content, status=status, headers={key.replace("_", "-"): headers[key] for key in headers}
        )

    return answer


def models(**entry: object) -> Handler:
    return says({"object": "list", "data": [{"id": "m", **entry}]})


async def seen_at(*routes: tuple[str, str, Handler], seconds: float = 20.0) -> SeenServer:
    async with serving(*routes) as url:
        found = await look_at_servers(settings(NOBODY, discovery__endpoints=f"lab={url}"), seconds)
        (lab,) = [each for each in found if each.name == "lab"]
        return lab


async def test_the_local_ollama_tells_its_version_and_how_many_models_it_has() -> None:
    played = PlayedOllama(one=WITH_TOOLS, two=WITH_TOOLS)
    async with serving(*played.routes) as url:
        first, *_ = await look_at_servers(settings(url))
    assert (first.name, first.kind, first.version, first.models, first.named) == ("Ollama", "ollama", "0.32.1", 2, True)
    assert first.is_there
    assert first.problem is None
    assert first.milliseconds is not None


async def test_a_llama_server_tells_its_build() -> None:
    lab = await seen_at(
        ("GET", "/v1/models", models(owned_by="llamacpp")), ("GET", "/props", says({"build_info": "b7"}))
    )
    assert (lab.kind, lab.version, lab.models) == ("llama-server", "b7", 1)


async def test_a_vllm_tells_its_version() -> None:
    lab = await seen_at(("GET", "/v1/models", models(owned_by="vllm")), ("GET", "/version", says({"version": "0.11"})))
    assert (lab.kind, lab.version) == ("vllm", "0.11")


async def test_one_that_says_nothing_of_itself_is_just_compatible() -> None:
    lab = await seen_at(("GET", "/v1/models", models()))
    assert (lab.kind, lab.version, lab.models) == ("openai-compatible", None, 1)


async def test_an_ollama_is_recognised_at_any_address() -> None:
    lab = await seen_at(("GET", "/v1/models", models()), ("GET", "/api/version", says({"version": "0.32.1"})))
    assert (lab.kind, lab.version) == ("ollama", "0.32.1")


async def test_our_own_server_is_recognised() -> None:
    lab = await seen_at(("GET", "/v1/models", says({"data": [{"id": "m"}]}, X_Callgate="1.2.3")))
    assert (lab.kind, lab.version, lab.models) == ("callgate", "1.2.3", 1)


async def test_one_that_wants_a_key_is_there() -> None:
    lab = await seen_at(("GET", "/v1/models", says({"error": "who are you?"}, status=401)))
    assert lab.is_there
    assert lab.wants_key
    assert lab.problem is None


async def test_garbage_and_errors_are_problems_of_those_who_listen() -> None:
    for handler in (talks_garbage, says({"models": 3}), says([1]), says({}, status=500)):
        lab = await seen_at(("GET", "/v1/models", handler))
        assert lab.is_there
        assert isinstance(lab.problem, BackendError)


async def test_one_that_hangs_is_given_up() -> None:
    lab = await seen_at(("GET", "/v1/models", hangs), seconds=0.2)
    assert isinstance(lab.problem, Unreachable)


async def test_nobody_is_a_problem_only_where_somebody_was_named() -> None:
    found = await look_at_servers(settings(discovery__endpoints=f"lab={NOBODY}", ollama__host="127.0.0.1:2"))
    by_name = {each.name: each for each in found}
    assert isinstance(by_name["lab"].problem, Unreachable)
    assert isinstance(by_name["Ollama"].problem, Unreachable)  # the settings name it
    assert not by_name["lab"].is_there


async def test_a_password_is_not_shown() -> None:
    found = await look_at_servers(settings(NOBODY, discovery__endpoints="lab=http://me:hush@127.0.0.1:2"))
    assert "hush" not in repr(found)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda part: st.lists(part) | st.dictionaries(st.sampled_from(["models", "data"]), part),
    )
)
def test_any_list_of_models_is_counted_or_none(content: object) -> None:
    count = _count(content)
    assert count is None or count >= 0
