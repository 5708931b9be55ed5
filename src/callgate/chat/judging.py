"""How tools would reach a model, and how much it can read: what is said when a chat turns to it.

Facts that aren't there in time hold nobody up: then it is judged by its name, marked as a guess, and judged again when
they come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import msgspec

from callgate.chat.preloading import loaded
from callgate.chat.words import in_thousands, name_of, why_in_short
from callgate.detect import Finding
from callgate.gate import Mode, decide
from callgate.runtime import Agent, context_of
from callgate.vocabulary import Answer, ChatRequest, Means, ModelRef, Source

PATIENCE_SECONDS = 0.4


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    ref: ModelRef
    finding: Finding
    mode: Mode
    reason: str
    context: int | None = None
    is_guess: bool = False
    """By what its name says, because nothing else was known in time."""
    has_tools: bool = True
    """Whether there are tools at hand at all."""

    @property
    def tools(self) -> Answer:
        return self.finding.capabilities.tools

    @property
    def is_doubtful(self) -> bool:
        """Whether nobody but its name says whether it has tools."""
        known = self.finding.capabilities
        said = next((found.source for found in known.evidence if found.claim == "tools"), Source.DEFAULT)
        return known.guess and not said.is_users_word

    @property
    def line(self) -> str:
        """What the user has to know of it: `qwen3:8b · tools native · context 32k`."""
        parts = [name_of(self.ref), self._tools_part()]
        if self.context and self.mode != "off":
            parts.append(f"context {in_thousands(self.context)}")
        if failure := self.finding.failure:
            parts.append(why_in_short(failure.message) if not self.is_guess else "it hasn't answered yet")
        if self.mode == "off" and self.has_tools and not self.finding.capabilities.is_embedding and self._may_try:
            parts.append("/tools emulate to try anyway")
        return " · ".join(parts)

    @property
    def _may_try(self) -> bool:
        return self.reason != "tools are switched off"

    def _tools_part(self) -> str:
        if not self.has_tools:
            return "no tools at hand"
        mark = "?" if self.is_doubtful else ""
        why = "" if self.mode == "native" else f": {why_in_short(self.reason)}"
        if mark and self.mode == "native":
            why = ", a guess by its name"
        return f"tools {self.mode}{mark}{why}"


class Judged(msgspec.Struct, frozen=True):
    now: Judgement
    later: Awaitable[Judgement] | None = None
    """The real one, where `now` is only a guess."""


async def judge(agent: Agent, ref: ModelRef, *, may_guess: bool = True) -> Judged:
    """Raises: CallgateError, if there is no such model, or it may not be used."""
    if not may_guess:
        return Judged(await look(agent, ref))
    await loaded(ref)  # the time that others have isn't spent on what we have to do ourselves
    looking = asyncio.create_task(look(agent, ref))
    try:
        done, _ = await asyncio.wait({looking}, timeout=PATIENCE_SECONDS)
    except asyncio.CancelledError:
        looking.cancel()
        raise
    if done:
        return Judged(looking.result())
    return Judged(_guessed(agent, ref), looking)


async def look(agent: Agent, ref: ModelRef) -> Judgement:
    """However long it takes."""
    session = agent.session
    finding = await session.find(ref)
    tools = agent.toolbox.tools
    request = ChatRequest(model=ref.name, messages=(), tools=tools)
    plan = await session.plan(ref, request)
    mode, reason = plan.mode, plan.reason
    if not tools:
        decision = decide(finding.capabilities, Means(), session.policy(ref))
        mode, reason = decision.mode, decision.reason
    return Judgement(
        ref=ref,
        finding=finding,
        mode=mode,
        reason=reason,
        context=None if _is_default(finding) else await context_of(session, ref, request),
        has_tools=bool(tools),
    )


def _is_default(finding: Finding) -> bool:
    """Whether nobody has said how much it can read: what every model has at the very least is no answer."""
    said = (found for found in finding.capabilities.evidence if found.claim in ("context_length", "loaded_context"))
    return all(found.source is Source.DEFAULT for found in said)


def _guessed(agent: Agent, ref: ModelRef) -> Judgement:
    session = agent.session
    finding = session.guess(ref)
    decision = decide(finding.capabilities, Means(), session.policy(ref))
    return Judgement(
        ref=ref,
        finding=finding,
        mode=decision.mode,
        reason=decision.reason,
        context=session.knowledge.manual_context(ref),
        is_guess=True,
        has_tools=bool(agent.toolbox.tools),
    )


def nobody_knows(judgement: Judgement) -> bool:
    """Whether no source at all says if it has tools: then only the user can tell, or a try."""
    return (
        judgement.tools is Answer.UNKNOWN and not judgement.is_guess and not judgement.finding.capabilities.is_embedding
    )
