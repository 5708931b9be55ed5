"""One record of what is known about one model: everything that shows a model to anyone shows this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from callgate.detect import decisive
from callgate.settings import without_password
from callgate.vocabulary import Answer, CallgateError, Capabilities, Evidence

_VERDICT = ("name", "tools", "native_route", "guess", "evidence", "chat_format", "has_tool_use_template")


class ModelReport(msgspec.Struct, frozen=True, kw_only=True):
    """What `callgate check` says of one target. Without `capabilities`, `error` says why."""

    target: str
    model: str
    capabilities: Capabilities | None = None
    served: bool = False
    """A server has it, so that it makes sense to ask whether that passes tools through."""
    elapsed_ms: float = 0.0
    error: CallgateError | None = None

    @property
    def tools(self) -> Answer:
        return self.capabilities.tools if self.capabilities else Answer.UNKNOWN

    @property
    def evidence(self) -> tuple[tuple[Evidence, bool], ...]:
        """Each piece of evidence in order of weight, and whether it is the one that decides its claim."""
        if self.capabilities is None:
            return ()
        deciding = decisive(self.capabilities.evidence)
        return tuple((found, deciding.get(found.claim) is found) for found in self.capabilities.evidence)

    def as_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        known = self.capabilities
        shown: dict[str, Any] = {
            "target": as_json_text(self.target),
            "model": as_json_text(self.model),
            "tools": self.tools,
            "guess": known.guess if known else False,
            "native_route": known.native_route if known and self.served else None,
            "capabilities": _plain_capabilities(known) if known else None,
            "evidence": [_plain_evidence(found, decides) for found, decides in self.evidence],
            "model_info": _model_info(known) if known else None,
            "elapsed_ms": round(self.elapsed_ms, 2),
        }
        if self.error:
            shown["error"] = error_as_json(self.error)
        return shown


def evidence_as_json(evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
    """As `--json` prints it, with the mark of what decides."""
    deciding = decisive(evidence)
    return [_plain_evidence(found, deciding.get(found.claim) is found) for found in evidence]


def error_as_json(error: CallgateError) -> dict[str, str | None]:
    hint = error.hint and without_password(error.hint)
    return {"type": type(error).__name__, "message": without_password(error.message), "hint": hint}


def timestamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def as_json_text(name: str) -> str:
    """A file's name may have bytes in it that are no text, and JSON may not."""
    return name.encode("utf-8", "replace").decode()


def _plain_capabilities(known: Capabilities) -> Mapping[str, Any]:
    fields = {name: value for name, value in msgspec.structs.asdict(known).items() if name not in _VERDICT}
    fields["cached_at"] = timestamp(known.cached_at) if known.cached_at else None
    return fields


def _plain_evidence(found: Evidence, decides: bool) -> dict[str, Any]:
    return {
        "claim": found.claim,
        "answer": found.answer,
        "source": found.source,
        "detail": found.detail,
        "at": timestamp(found.at),
        "decisive": decides,
    }


def _model_info(known: Capabilities) -> dict[str, Any]:
    """The same in the words of llama.cpp, for programs that know those."""
    calls = known.supports_tool_calls
    caps = {
        "supports_tools": known.supports_tools,
        "supports_tool_calls": calls,
        "supports_parallel_tool_calls": known.supports_parallel_tool_calls,
        "supports_system_role": known.supports_system_role,
        "supports_string_content": known.supports_string_content,
        "supports_typed_content": known.supports_typed_content,
        "supports_object_arguments": calls and not known.requires_string_arguments,
        "supports_preserve_reasoning": known.supports_preserve_reasoning,
    }
    return {
        "type": "model_info",
        "supports_tools": known.tools.known,
        "caps": caps,
        "chat_format": known.chat_format,
        "has_tool_use_template": known.has_tool_use_template,
        "architecture": known.architecture,
        "n_params": known.parameter_count,
    }
