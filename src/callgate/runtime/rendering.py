"""What a model would really get: the mode with its reason, the request as it is sent, the prompt. Nothing is answered.

The prompt is rendered by whoever runs the model where that costs no loading, or where loading is allowed; else here,
by the model's own chat template.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.backends import RenderedPrompt, ShowsPrompts, WireRequest
from callgate.detect import TemplateInput, TemplateSandbox, template_input
from callgate.gate import Mode
from callgate.runtime.ollama_prompts import as_ollama_hands_it_on
from callgate.runtime.session import Session
from callgate.vocabulary import (
    CallgateError,
    Capabilities,
    ChatRequest,
    Facts,
    ModelRef,
    NotFound,
    Notice,
    ServerKind,
)
from callgate.wire import shown as without_credentials

BY_US = "callgate"
_SHOW_PROMPTS = (ServerKind.OLLAMA, ServerKind.LLAMA_SERVER)
_CHATML = (
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)
"""What engines use where a model brings no template of its own."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn would be done, up to where the model begins to speak."""

    ref: ModelRef
    mode: Mode
    reason: str
    notices: tuple[Notice, ...] = ()
    wire: WireRequest | None = None
    prompt: RenderedPrompt | None = None
    context_length: int | None = None
    problem: CallgateError | None = None
    """What went wrong while this was found out; the notices tell of it too."""

    @property
    def name(self) -> str:
        """The model's, without the password that an address may have in it."""
        endpoint = self.ref.endpoint and without_credentials(self.ref.endpoint)
        return _as_text(str(msgspec.structs.replace(self.ref, endpoint=endpoint)))

    def as_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        request = self.wire and {"url": _as_text(self.wire.url), "body": msgspec.Raw(self.wire.body)}
        return {
            "model": self.name,
            "mode": self.mode,
            "reason": self.reason,
            "notices": [{"kind": notice.kind, "message": notice.message} for notice in self.notices],
            "request": request,
            "prompt": self.prompt.text if self.prompt else None,
            "rendered_by": self.prompt.by if self.prompt else None,
        }


async def show(session: Session, ref: ModelRef, request: ChatRequest, *, may_load: bool = False) -> Shown:
    """What the model `ref` would get for `request`. `may_load`: whether it may be loaded in order to ask its engine.

    Raises: as `Session.turn` does before it asks anything. What fails later is told in what is shown.
    """
    ref = await session.resolve(ref)
    backend = session.backend(ref)
    finding = await session.find(ref)
    if isinstance(finding.failure, NotFound):
        raise finding.failure
    planned = await session.plan(ref, request)
    known = finding.capabilities
    shown = Shown(
        ref=ref,
        mode=planned.mode,
        reason=planned.reason,
        notices=planned.notices,
        context_length=known.loaded_context or known.context_length,
    )
    if not isinstance(backend, ShowsPrompts):
        return _without_prompt(shown, "its backend shows neither requests nor prompts")
    shown = msgspec.structs.replace(shown, wire=await backend.wire(planned.request))
    if finding.failure is not None:
        said = Notice("guess", f"this is a guess, without a prompt: {finding.failure.message}")
        return msgspec.structs.replace(_noted(shown, said), problem=finding.failure)
    try:
        if prompt := await backend.rendered(planned.request, may_load=may_load):
            return msgspec.structs.replace(shown, prompt=prompt)
        facts = await backend.facts(ref.name)  # what is known may be of another day, and not whole
        if template := _template(facts, with_tools=bool(planned.request.tools)):
            return msgspec.structs.replace(shown, prompt=await _rendered(template, planned.request, facts, known))
    except CallgateError as error:
        return _failed(shown, error)
    asks = "" if may_load or facts.server not in _SHOW_PROMPTS else "; --engine loads the model and asks its server"
    return _without_prompt(shown, f"its chat template can't be rendered here{asks}")


async def _rendered(template: str, request: ChatRequest, facts: Facts, known: Capabilities) -> RenderedPrompt:
    if facts.server is ServerKind.OLLAMA:
        request = as_ollama_hands_it_on(request, facts.answer or {})
    text = await asyncio.to_thread(_render, template, template_input(request, known), facts.tokens)
    return RenderedPrompt(text, BY_US)


def _render(template: str, conversation: TemplateInput, tokens: Mapping[str, str]) -> str:
    with TemplateSandbox() as sandbox:
        return sandbox.render(template, conversation, tokens)


def _template(facts: Facts, *, with_tools: bool) -> str | None:
    templates = facts.templates
    if templates is None:
        return None
    variant = templates.get("tool_use") if with_tools else None
    return variant or templates.get("default") or templates.get("tool_use") or _CHATML


def _as_text(name: str) -> str:
    """A file's name may have bytes in it that are no text, and JSON may not."""
    return name.encode("utf-8", "replace").decode()


def _without_prompt(shown: Shown, why: str) -> Shown:
    return _noted(shown, Notice("no_prompt", f"there is no prompt to show: {why}"))


def _failed(shown: Shown, error: CallgateError) -> Shown:
    hint = f" ({error.hint})" if error.hint else ""
    return msgspec.structs.replace(_without_prompt(shown, f"{error.message}{hint}"), problem=error)


def _noted(shown: Shown, notice: Notice) -> Shown:
    return msgspec.structs.replace(shown, notices=(*shown.notices, notice))
