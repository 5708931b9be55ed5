from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway import Options
from callgate.gateway.owners_names import OwnersNames
from callgate.settings import Settings
from callgate.vocabulary import ModelRef, UsageError
from tests.gateway.running import Answered, Gateway, gateway, no_servers
from tests.gateway.upstreams import Upstream, upstreams
from tests.runtime.played import NOBODY, WITH_TOOLS, WITHOUT, PlayedOllama
from tests.wire.server import serving

HELLO = [{"role": "user", "content": "hello"}]


def behind(*those: Upstream, **more: object) -> Settings:
    return no_servers(NOBODY, discovery__endpoints=",".join(f"{each.name}={each.url}" for each in those), **more)


async def ask(served: Gateway, model: str) -> Answered:
    return await served.post("/v1/chat/completions", {"model": model, "messages": HELLO})


async def said(served: Gateway, model: str) -> str:
    answer = await ask(served, model)
    assert answer.status == 200, answer.body
    text: str = answer.json["choices"][0]["message"]["content"]
    return text


async def told_of(served: Gateway) -> dict[str, dict[str, object]]:
    return {model["id"]: model["callgate"] for model in (await served.get("/v1/models")).json["data"]}


def again(served: Gateway) -> None:
    """The list is too old from now on."""
    served.app._answering._catalogue._looked_at = 0  # type: ignore[union-attr]


async def test_an_alias_makes_one_model_of_several_whatever_they_are_called_where_they_are() -> None:
    a, b = Upstream("a", model="small1"), Upstream("b", model="small2")
    async with upstreams(a, b), gateway(Options(aliases={"both": "small1,small2"}), behind(a, b)) as served:
        assert sorted([await said(served, "both") for _ in range(4)]) == ["I am a", "I am a", "I am b", "I am b"]
        assert (await served.get("/ready")).json == {"status": "ok", "endpoints": {"up": 2, "out": 0}}
        assert 'endpoint="ollama"' not in (await served.get("/metrics")).body.decode()
        await a.stop()
        assert [await said(served, "both") for _ in range(3)] == ["I am b"] * 3


async def test_models_of_an_alias_that_nobody_has_are_left_out_until_somebody_has_them() -> None:
    a, b = Upstream("a", model="small1"), Upstream("b", model="small2")
    async with upstreams(a, b):
        await b.stop()
        async with gateway(Options(aliases={"both": "small1,small2"}), behind(a, b)) as served:
            assert [await said(served, "both") for _ in range(3)] == ["I am a"] * 3
            assert (await served.get("/ready")).json["status"] == "ok"
            await b.start()
            again(served)
            async with asyncio.timeout(20):
                while await said(served, "both") != "I am b":
                    pass


async def test_the_list_tells_of_aliases_and_of_the_default_model_what_is_true_where_they_are() -> None:
    ollama = PlayedOllama(good=WITH_TOOLS, plain=WITHOUT)
    options = Options(model="good", aliases={"gpt-4o-mini": "good", "plainer": "plain:latest"})
    for known, ids in (
        ({}, ["gpt-4o-mini", "plainer", "good:latest", "plain:latest", "tiny", "tiny-plain"]),
        ({"models__require_tools": True}, ["gpt-4o-mini", "good:latest", "tiny"]),
    ):
        async with (
            serving(*ollama.routes) as url,
            gateway(options, no_servers(NOBODY, discovery__endpoints=f"lab=ollama+{url}", **known)) as served,
        ):
            listed = await told_of(served)
            assert list(listed) == ids
            tags = [model["name"] for model in (await served.get("/api/tags")).json["models"]]
            assert [name.removesuffix(":latest") for name in tags] == [id_.removesuffix(":latest") for id_ in ids]
            assert listed["gpt-4o-mini"]["mode"] == "native"
            alone = (await served.get("/v1/models/gpt-4o-mini")).json["callgate"]
            assert {**alone, "elapsed_ms": 0} == {**listed["gpt-4o-mini"], "elapsed_ms": 0}


async def test_an_alias_that_is_called_like_a_model_is_listed_as_what_it_stands_for() -> None:
    ollama = PlayedOllama(good=WITH_TOOLS, plain=WITHOUT)
    options = Options(aliases={"plain:latest": "good"})
    async with serving(*ollama.routes) as url, gateway(options, no_servers(url)) as served:
        assert (await told_of(served))["plain:latest"]["mode"] == "native"


async def test_of_a_server_that_is_down_at_the_start_is_told_and_its_model_is_found_when_it_comes() -> None:
    late = Upstream("late", model="late1")
    async with upstreams(late):
        await late.stop()
        options = Options(model="late1", aliases={"x": "late1"})
        async with gateway(options, behind(late)) as served:
            for model in ("x", "", "late1"):
                refused = await ask(served, model)
                assert refused.status == 502
                message = refused.json["error"]["message"]
                assert late.url.removesuffix("/v1") in message
                assert "Ollama" not in message
                embedded = await served.post("/v1/embeddings", {"model": model, "input": "x"})
                counted = await served.post("/v1/messages/count_tokens", {"model": model, "messages": HELLO})
                assert (embedded.status, counted.status) == (502, 502)
            listed = await told_of(served)
            assert list(listed) == ["late1", "x", "tiny", "tiny-plain"]
            for told in (listed["x"], (await served.get("/v1/models/x")).json["callgate"]):
                assert "nobody listens at" in str(told["error"])
            await late.start()
            async with asyncio.timeout(20):
                while (await ask(served, "x")).status != 200:
                    pass
            assert await said(served, "") == "I am late"
            assert list(await told_of(served)) == ["x", "late1", "tiny", "tiny-plain"]


async def test_another_model_answers_for_one_whose_server_never_came() -> None:
    late, here = Upstream("late", model="late1"), Upstream("here", model="here1")
    async with upstreams(late, here):
        await late.stop()
        options = Options(model="late1", fallback="nobodys,other", aliases={"other": "here1"}, explain=True)
        async with gateway(options, behind(late, here)) as served:
            answer = await ask(served, "")
            assert answer.json["choices"][0]["message"]["content"] == "I am here"
            (notice,) = answer.json["callgate"]["notices"]
            assert notice["kind"] == "model_changed"
            assert "'here1' takes over" in notice["message"]


async def test_what_nobody_has_is_not_found_and_not_listed() -> None:
    here, ollama = Upstream("here", model="here1"), PlayedOllama(good=WITH_TOOLS)
    async with upstreams(here), serving(*ollama.routes) as url:
        known = no_servers(url, discovery__endpoints=f"here={here.url}")
        async with gateway(Options(model="here2", aliases={"x": "here2"}), known) as served:
            for model in ("x", "here2", ""):
                refused = await ask(served, model)
                assert refused.status == 404
                assert "did you mean 'here1'?" in refused.json["error"]["message"]
            assert (await served.get("/v1/models/x")).status == 404
            assert list(await told_of(served)) == ["good:latest", "here1", "tiny", "tiny-plain"]
            assert not ollama.asked["/api/chat"]


async def test_a_name_leads_to_its_models_over_other_names() -> None:
    a = Upstream("a", model="small1")
    options = Options(model="first", aliases={"first": "second", "second": "small1", "small1": "small1,nobodys"})
    async with upstreams(a), gateway(options, behind(a)) as served:
        for name in ("", "first", "second", "small1"):
            assert await said(served, name) == "I am a"
        assert list(await told_of(served)) == ["first", "second", "small1", "tiny", "tiny-plain"]


async def test_many_who_ask_for_what_nobody_has_wait_for_one_look_however_long_it_takes() -> None:
    slow = Upstream("slow", "hangs")
    async with upstreams(slow), gateway(Options(), behind(slow, discovery__timeout=1.2)) as served:
        answers = await asyncio.gather(*(ask(served, f"nothing{number}") for number in range(6)))
        assert {answer.status for answer in answers} == {404}
        assert slow.asked["/v1/models"] <= 2


@pytest.mark.parametrize(
    "aliases", [{"a": "b", "b": "a"}, {"a": "x,b", "b": "c", "c": "tiny,a"}, {"ok": "a", "a": "b", "b": "b,a"}]
)
def test_aliases_that_lead_round_in_a_circle_are_refused(aliases: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"in a circle: .*'a'.*'b'|in a circle: .*'b'.*'a'"):
        OwnersNames(aliases=aliases)


@given(st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from("abcdxyz"), min_size=1, max_size=3)))
def test_aliases_stand_for_models_or_are_refused(aliases: dict[str, list[str]]) -> None:
    try:
        names = OwnersNames(aliases={alias: ",".join(models) for alias, models in aliases.items()})
    except UsageError:
        return
    assert list(names.aliases) == list(aliases)
    for alias, models in aliases.items():
        stands_for = names.models(alias)
        assert len(set(stands_for)) == len(stands_for)
        assert names.aliases[alias] == tuple(map(ModelRef.parse, stands_for))
        # An alias is left in only as the model that its own models, or those of another, mean by that name.
        assert all(name not in aliases or name in aliases[name] for name in stands_for)
        for model in models:
            assert {model} <= set(stands_for) or set(names.models(model)) <= set(stands_for)
