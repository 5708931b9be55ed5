"""Each case that comes with callgate is passed by a model that does it right, and by none that does it wrong."""

from __future__ import annotations

import pytest

from callgate.validate import KnownCase, Mode, Trial, chosen_cases
from callgate.validate.filling import Filled, filled
from callgate.validate.moded_session import ModedSession
from callgate.validate.trying import Trying
from callgate.vocabulary import ModelRef
from tests.validate.played_model import PlayedModel, Reply, calls, right, says, wrong

CASES = chosen_cases("full")
TRIALS = 3


def mode_of(known: KnownCase) -> Mode:
    return "off" if known.case.has_no_mode else "native"


def expected(case: Filled) -> list[Reply]:
    return [right(case.expect), *(right(step.expect) for step in case.then)]


async def tried(
    model: PlayedModel, session: ModedSession, ref: ModelRef, known: KnownCase, number: int, replies: list[Reply]
) -> Trial:
    model.replies = list(replies)
    return await Trying(session, ref).trial(known, number)


@pytest.mark.parametrize("known", CASES, ids=lambda known: known.case.name)
async def test_it_is_passed_by_who_does_it_right_and_failed_by_who_does_not(known: KnownCase) -> None:
    model = PlayedModel()
    async with model.running() as ref, ModedSession() as session:
        session.mode = mode_of(known)
        for number in range(TRIALS):
            case = filled(known.case, number)
            good = expected(case)
            passed = await tried(model, session, ref, known, number, good)
            assert passed.outcome == "passed", passed
            assert not model.replies
            assert (passed.tokens, passed.kind, passed.check) == (7 * len(good), None, known.case.check)
            for turn, expect in enumerate((case.expect, *(step.expect for step in case.then))):
                repeats = case.then[turn - 1].repeats if turn else 0
                for kinds, bad in wrong(expect, [tool.name for tool in known.tools]).items():
                    replies = [*good[:turn], *[bad] * (repeats + 1)]
                    failed = await tried(model, session, ref, known, number, replies)
                    assert failed.outcome == "failed", (turn, kinds, failed)
                    assert failed.kind in kinds.split("|"), (turn, kinds, failed)
                    assert failed.reason


@pytest.mark.parametrize("known", CASES, ids=lambda known: known.case.name)
async def test_a_model_that_only_talks_passes_where_it_must_not_call_and_nowhere_else(known: KnownCase) -> None:
    model = PlayedModel()
    async with model.running() as ref, ModedSession() as session:
        session.mode = mode_of(known)
        done = await tried(model, session, ref, known, 0, [])
    calls = known.case.expect.calls or known.case.expect.any_valid_call
    asks_for_more = known.case.expect.mentions or known.case.expect.json or known.case.expect.pieces > 1
    assert done.outcome == ("failed" if calls or asks_for_more else "passed"), done


async def test_calls_in_the_text_count_where_they_are_recovered() -> None:
    known = next(known for known in CASES if known.case.name == "one-call")
    bad = wrong(filled(known.case, 0).expect, ["get_humidity"])["text-call"]
    model = PlayedModel()
    async with model.running() as ref, ModedSession() as session:
        for mode, outcome in (("native", "failed"), ("recovered", "passed")):
            session.mode = "native" if mode == "native" else "recovered"
            assert (await tried(model, session, ref, known, 0, [bad])).outcome == outcome


async def test_what_has_to_be_mended_counts_only_where_callgate_mends() -> None:
    known = next(known for known in CASES if known.case.name == "integer-argument")
    minutes = right(filled(known.case, 0).expect).calls[0][1]["minutes"]
    model = PlayedModel()
    async with model.running() as ref, ModedSession() as session:
        session.mode = "native"
        as_text = Reply(calls=(("run_sprinkler", {"minutes": str(minutes)}),))
        failed = await tried(model, session, ref, known, 0, [as_text])
        assert (failed.outcome, failed.kind) == ("failed", "invalid-arguments")
        session.mode = "recovered"
        assert (await tried(model, session, ref, known, 0, [as_text])).outcome == "passed"


async def test_a_server_that_refuses_tools_does_not_support_them() -> None:
    known = next(known for known in CASES if known.case.name == "one-call")
    model = PlayedModel()
    model.refuses_tools = True
    async with model.running() as ref, ModedSession() as session:
        session.mode = "native"
        for number in range(2):
            refused = await tried(model, session, ref, known, number, [])
            assert (refused.outcome, refused.kind) == ("unsupported", "not-this-way")
            assert "does not support tools" in (refused.reason or "")
    assert sum("tools" in asked for asked in model.asked) == 1  # once was enough


async def test_what_is_asked_is_the_same_for_the_same_seed() -> None:
    known = next(known for known in CASES if known.case.name == "one-call")
    model = PlayedModel()
    async with model.running() as ref, ModedSession() as session:
        session.mode = "native"
        for seed in (0, 0, 1):
            await Trying(session, ref, seed=seed).trial(known, 0)
    first, second, third = ([message["content"] for message in asked["messages"]] for asked in model.asked)
    assert first == second != third
    assert [asked["temperature"] for asked in model.asked] == [0, 0, 0]
    assert [asked["seed"] for asked in model.asked] == [0, 0, 1]


def case_named(name: str) -> KnownCase:
    return next(known for known in CASES if known.case.name == name)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("error-result", "No problem! There are 42."),
        ("error-result", "There are 42 of them, and you can't go wrong with them."),
        ("error-result", "It has an excellent mileage, there is no issue with it."),
        ("two-results", "The first has {first}; I don't know the other."),
        ("two-results", "The other has {second}; I don't know the first."),
        ("plain-text", "Bananas are yellow."),
    ],
)
async def test_an_answer_that_only_looks_right_is_wrong(name: str, answer: str) -> None:
    known = case_named(name)
    model = PlayedModel()
    async with model.running() as ref, ModedSession() as session:
        session.mode = mode_of(known)
        case = filled(known.case, 0)
        bad = says(answer.format(**case.values))
        replies = [*expected(case)[: len(case.then)], bad, bad]
        assert (await tried(model, session, ref, known, 0, replies)).outcome == "failed"


async def test_each_of_two_calls_gets_a_result_of_its_own_in_whatever_order_they_come() -> None:
    known = case_named("two-results")
    case = filled(known.case, 0)
    first, last = right(case.expect).calls
    model = PlayedModel()
    async with model.running() as ref, ModedSession() as session:
        session.mode = "native"
        replies = [calls(last, first), right(case.then[0].expect)]
        assert (await tried(model, session, ref, known, 0, replies)).outcome == "passed"
    given = [message["content"] for message in model.asked[-1]["messages"] if message["role"] == "tool"]
    assert [str(case.values[name]) in text for name, text in zip(("second", "first"), given, strict=True)] == [True] * 2


async def test_who_must_call_a_tool_may_call_both() -> None:
    known = case_named("choice-required")
    city = filled(known.case, 0).values["city"]
    model = PlayedModel()
    async with model.running() as ref, ModedSession() as session:
        session.mode = "native"
        both = calls(("get_humidity", {"city": city}), ("get_mayor", {"city": city}))
        assert (await tried(model, session, ref, known, 0, [both])).outcome == "passed"
