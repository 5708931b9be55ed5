"""Tools in the prompt of a model that has none: as callgate describes them, in both of its conventions.

"tags" is for engines that hold the model to a grammar, "json" for those that hold it to a schema.
"""

from __future__ import annotations

import json

from datagen.lists import dumps

ARGUMENTS = {"tags": "arguments", "json": "parameters"}


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def instructions(tools, convention, forced=False):
    example = calls_text([{"name": "tool", "arguments": {"parameter": "value"}}], convention)
    lines = ["You can use these tools:", *(_tool(tool["function"]) for tool in tools), ""]
    if forced:
        return "\n".join([*lines, "Answer with a call of one tool, like this:", example])
    lines += ["If one of them helps with what the user asks, call it, like this:", example]
    if convention == "tags":
        return "\n".join([*lines, "Its result is then sent to you. If no tool is needed, answer in plain words."])
    lines.append("Its result is then sent to you. If no tool is needed, answer like this:")
    return "\n".join([*lines, '{"reply":[\u2026]}'])


def calls_text(calls, convention):
    each = [compact({"name": call["name"], ARGUMENTS[convention]: call["arguments"]}) for call in calls]
    if convention == "json":
        return '{"calls":[' + ",".join(each) + "]}"
    return "\n".join(f"<tool_call>{call}</tool_call>" for call in each)


def reply_text(text, convention):
    return compact({"reply": [text]}) if convention == "json" else text


def result_text(name, result):
    return f'<tool_response name="{name}">\n{result}\n</tool_response>'


def _tool(function):
    parameters = function["parameters"]
    fields = _fields(parameters)
    lines = [f"- {function['name']}({_signature(parameters)})"]
    if about := " ".join((function.get("description") or "").split()):
        lines[0] += f": {about}"
    lines += [f"    {name}: {schema['description']}" for name, schema, _ in fields if schema.get("description")]
    return "\n".join(lines)


def _fields(schema):
    """Required ones first, as they have to be written."""
    required = schema.get("required", [])
    fields = [(name, inner, name in required) for name, inner in schema.get("properties", {}).items()]
    return sorted(fields, key=lambda field: not field[2])


def _signature(schema):
    return ", ".join(f"{name}{'' if required else '?'}: {_type(inner)}" for name, inner, required in _fields(schema))


def _type(schema):
    if "enum" in schema:
        return " | ".join(map(dumps, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(map(_type, schema["anyOf"]))
    if schema["type"] == "array":
        return _type(schema["items"]) + "[]"
    return f"{{{_signature(schema)}}}" if schema["type"] == "object" else schema["type"]
