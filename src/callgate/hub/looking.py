"""Looks at a model before it is fetched: its header, a few megabytes of gigabytes; or else the hub's own summary."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import msgspec

from callgate.backends import memory_to_run
from callgate.detect import Finding, Header, TemplateSandbox, facts_of, find_in, read_header, read_header_from
from callgate.hub.partial import Partial
from callgate.hub.records import Summary
from callgate.hub.transfer import NoRanges, Transfer
from callgate.settings import Settings
from callgate.vocabulary import Answer, Evidence, Facts, Source, TemplateError

SHORT_TEMPLATE = 600
"""Characters. ChatML's whole template has fewer than 200, and one that shows tools has more than this."""
_BY_THE_HUB = "the hub's own summary"


class Hint(msgspec.Struct, frozen=True):
    """What the hub's summary lets expect. Its template is the default one: of a variant for tools it knows nothing."""

    word: str
    """`likely`, `perhaps` or `unknown`; never `no`."""
    why: str

    def evidence(self) -> Evidence:
        return Evidence("note", f"{self.word}: {self.why}", Source.TEMPLATE_TEXT, _BY_THE_HUB, time.time())


_NONE_YET = Hint("unknown", "the hub didn't answer in time")


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    hint: Hint
    finding: Finding | None = None
    """By the header of the very file; nothing where it couldn't be seen."""
    header_bytes: int = 0
    """That were fetched for it."""
    front: dict[int, bytes] = {}
    """The parts that were fetched for it, which needn't be fetched again."""
    memory: int | None = None
    """Bytes that the model would take."""
    context_length: int | None = None
    """By the header, or else by the hub's summary."""

    @property
    def verdict(self) -> str:
        return str(self.finding.capabilities.tools) if self.finding else self.hint.word

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        found = self.finding.capabilities.evidence if self.finding else ()
        return (*found, self.hint.evidence())


async def look_at_header(
    transfer: Transfer, partial: Partial, name: str, weights: int, settings: Settings, sandbox: TemplateSandbox
) -> Looked:
    """By the parts that are already here, then by those that are fetched now. Without ranges there is no finding.

    Raises: HeaderError, if it is no model; HubRefused, BackendError, FetchFailed.
    """
    front: dict[int, bytes] = {}

    async def blocks() -> AsyncIterator[bytes]:
        for number in range(partial.count):
            block = await asyncio.to_thread(partial.read, number)
            if block is None:
                block = front[number] = await transfer.part(number)
            yield block

    try:
        header = await read_header_from(blocks(), repr(name), partial.size)
    except NoRanges:
        return Looked(hint=_NONE_YET, header_bytes=transfer.bytes_fetched)
    looked = await _concluded(header, name, weights, settings, sandbox)
    return msgspec.structs.replace(looked, header_bytes=sum(map(len, front.values())), front=front)


async def look_at_file(path: str, name: str, weights: int, settings: Settings, sandbox: TemplateSandbox) -> Looked:
    """Of a model that is here already. Raises: HeaderError."""
    return await _concluded(await asyncio.to_thread(read_header, path), name, weights, settings, sandbox)


async def _concluded(header: Header, name: str, weights: int, settings: Settings, sandbox: TemplateSandbox) -> Looked:
    facts = facts_of(header, name, time.time())
    finding = await asyncio.to_thread(find_in, facts, sandbox)
    memory = memory_to_run(facts, weights, settings.llamacpp)
    context = finding.capabilities.context_length
    return Looked(hint=_NONE_YET, finding=finding, memory=memory, context_length=context)


def hint_of(summary: Summary | None, sandbox: TemplateSandbox) -> Hint:
    template = summary.chat_template if summary else None
    if not template:
        return Hint("unknown", "it has no chat template")
    try:
        known = find_in(Facts(name="", templates={"default": template}, at=time.time()), sandbox).capabilities
    except TemplateError as error:
        return Hint("perhaps", f"its template can't be examined ({type(error).__name__})")
    if known.supports_tools:
        both = known.tools is Answer.YES
        return Hint("likely", "its template reads tools" + ("" if both else ", though it shows no calls"))
    kind = "a short one without tools" if len(template) <= SHORT_TEMPLATE else "without tools"
    return Hint("perhaps", f"its default template is {kind}, and a `tool_use` variant can't be seen from here")
