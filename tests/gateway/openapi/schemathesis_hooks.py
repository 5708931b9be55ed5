"""Loaded by schemathesis: what a schema can't say of a request, so that the valid ones are answered by a model."""

from __future__ import annotations

import os
from typing import Any

import schemathesis

TALKS = (
    *("/v1/chat/completions", "/v1/completions", "/api/chat", "/api/generate"),
    *("/v1/messages", "/v1/messages/count_tokens", "/v1/responses", "/v1/responses/input_tokens"),
)


def before_call(context: object, case: Any, kwargs: dict[str, Any]) -> None:
    body = case.body
    if not isinstance(body, dict):
        return
    is_valid = case.meta is None or case.meta.generation.mode.is_positive
    if is_valid or isinstance(body.get("model"), str):
        body["model"] = os.environ["MODEL_THAT_TALKS" if case.path in TALKS else "MODEL_THAT_EMBEDS"]
    if is_valid:
        _be_consistent(body)


def _be_consistent(body: dict[str, Any]) -> None:
    """No two tools have one name, and none has to be called that isn't there; nor is there an earlier answer."""
    body.pop("previous_response_id", None)
    by_name = {_name(tool): tool for tool in body.get("tools") or ()}
    if by_name:
        body["tools"] = list(by_name.values())
    match body.get("tool_choice"):
        case "required" if not by_name:
            del body["tool_choice"]
        case {"type": "function", "function": {"name": name}} if name not in by_name:
            del body["tool_choice"]
        case {"type": "function" | "custom" | "tool" | "any", **more} if (
            "function" not in more and more.get("name") not in by_name
        ):
            del body["tool_choice"]
        case {"type": "allowed_tools", "allowed_tools": {"tools": tools}} if not {_name(tool) for tool in tools} & {
            *by_name
        }:
            del body["tool_choice"]


def _name(tool: dict[str, Any]) -> str:
    return str((tool.get("function") or tool).get("name"))


schemathesis.hook(before_call)
