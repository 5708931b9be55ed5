"""Chat templates that we wrote, each with what it can do."""

from __future__ import annotations

from typing import NamedTuple

_EACH = "{%- for message in messages %}"
_DONE = "{%- endfor %}{%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}"
_SAY = "{{- '<' + message.role + '>' + (message.content or '') }}"
_LIST_TOOLS = "{%- if tools %}{%- for tool in tools %}{{- '<tool>' + tool | tojson }}{%- endfor %}{%- endif %}"
_CALLS = (
    "{%- for call in message.tool_calls or [] %}"
    "{{- '<call>' + call.function.name + ' ' + (call.function.arguments | tojson) }}"
    "{%- endfor %}"
)


class Sample(NamedTuple):
    source: str
    can: frozenset[str]
    """The answers that are yes."""


def _sample(source: str, *can: str) -> Sample:
    return Sample(source, frozenset(f"supports_{word}" if not word.startswith("requires") else word for word in can))


ANY_ROLE = ("system_role", "tool_responses", "string_content")
TALKS = ("system_role", "string_content")
CALLS = ("tool_calls", "parallel_tool_calls", "requires_object_arguments")

SAMPLES = {
    "plain": _sample(_EACH + _SAY + _DONE, *ANY_ROLE),
    "tools and calls": _sample(_LIST_TOOLS + _EACH + _SAY + _CALLS + _DONE, "tools", *ANY_ROLE, *CALLS),
    "tools without calls": _sample(_LIST_TOOLS + _EACH + _SAY + _DONE, "tools", *ANY_ROLE),
    "calls without tools": _sample(_EACH + _SAY + _CALLS + _DONE, *ANY_ROLE, *CALLS),
    "arguments of both kinds": _sample(
        _LIST_TOOLS
        + _EACH
        + _SAY
        + "{%- for call in message.tool_calls or [] %}{%- set f = call.function %}{{- '<call>' + f.name + ' ' }}"
        "{{- f.arguments if f.arguments is string else f.arguments | tojson }}{%- endfor %}" + _DONE,
        "tools", *ANY_ROLE, "tool_calls", "parallel_tool_calls",
    ),
    "arguments as text only": _sample(
        _EACH + _SAY + "{%- for call in message.tool_calls or [] %}"
        "{{- '<call>' + call.function.name + ' ' + call.function.arguments }}{%- endfor %}" + _DONE,
        *ANY_ROLE, "tool_calls", "parallel_tool_calls", "requires_string_arguments",
    ),
    "one call at a time": _sample(
        _LIST_TOOLS + _EACH + _SAY + "{%- if message.tool_calls %}"
        "{%- if message.tool_calls | length != 1 %}{{- raise_exception('one call at a time') }}{%- endif %}"
        + _CALLS + "{%- endif %}" + _DONE,
        "tools", *ANY_ROLE, "tool_calls", "requires_object_arguments",
    ),
    "parameters as tags": _sample(
        _LIST_TOOLS + _EACH + _SAY + "{%- for call in message.tool_calls or [] %}{{- '<call=' + call.function.name }}"
        "{%- for name, value in call.function.arguments.items() %}{{- '<' + name + '>' + value }}{%- endfor %}"
        "{%- endfor %}" + _DONE,
        "tools", *ANY_ROLE, *CALLS,
    ),
    "ids of nine characters": _sample(
        _LIST_TOOLS + _EACH + _SAY + "{%- for call in message.tool_calls or [] %}"
        "{%- if call.id | length != 9 %}{{- raise_exception('nine!') }}{%- endif %}{%- endfor %}"
        + _CALLS + _DONE,
        "tools", *ANY_ROLE, *CALLS,
    ),
    "ids that tell the name": _sample(
        _LIST_TOOLS + _EACH + _SAY + "{%- for call in message.tool_calls or [] %}"
        "{{- '<call>' + call.id + ' ' + (call.function.arguments | tojson) }}{%- endfor %}" + _DONE,
        "tools", *ANY_ROLE, *CALLS,
    ),
    "calls only beside null": _sample(
        _LIST_TOOLS + _EACH + "{%- if message.content is none %}" + _CALLS + "{%- elif message.role == 'assistant' %}"
        "{{- message.content }}{%- else %}" + _SAY + "{%- endif %}" + _DONE,
        "tools", *ANY_ROLE, *CALLS,
    ),
    "roles that alternate": _sample(
        "{%- for message in messages %}{%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}"
        "{{- raise_exception('Conversation roles must alternate') }}{%- endif %}" + _SAY + _DONE,
        "string_content",
    ),
    "no system role": _sample(
        _EACH + "{%- if message.role == 'system' %}{{- raise_exception('no system') }}{%- endif %}" + _SAY + _DONE,
        "tool_responses", "string_content",
    ),
    "parts only": _sample(
        _EACH + "{{- '<' + message.role }}{%- for part in message.content %}{{- part.text }}{%- endfor %}" + _DONE,
        "system_role", "tool_responses", "typed_content", "requires_typed_content",
    ),
    "strings and parts": _sample(
        _EACH + "{{- '<' + message.role + '>' }}{%- if message.content is string %}{{- message.content }}{%- else %}"
        "{%- for part in message.content %}{{- part.text }}{%- endfor %}{%- endif %}" + _DONE,
        *ANY_ROLE, "typed_content",
    ),
    "parts printed whole": _sample(_EACH + "{{- '<' + message.role + '>' ~ message.content }}" + _DONE, *ANY_ROLE),
    "a switch for thinking": _sample(
        _EACH + _SAY + _DONE
        + "{%- if enable_thinking is defined and not enable_thinking %}{{- '<think></think>' }}{%- endif %}",
        *ANY_ROLE, "enable_thinking",
    ),
    "thoughts that are kept": _sample(
        _EACH + "{%- if message.reasoning_content %}{{- message.reasoning_content }}{%- endif %}" + _SAY + _DONE,
        *ANY_ROLE, "preserve_reasoning",
    ),
    "the generation tag": _sample(
        _EACH + "{%- generation -%}" + _SAY + "{%- endgeneration -%}" + _DONE, *ANY_ROLE
    ),
    "tools in the flat form": _sample(
        "{%- if tools %}{%- for tool in tools %}{{- '<tool>' + tool.name + tool.description }}{%- endfor %}{%- endif %}"
        + _EACH + _SAY + _DONE,
        *ANY_ROLE,
    ),
    "variables of its host": _sample(
        _EACH + "{%- if message.role == 'user' %}{{- name1 + ': ' + message.content }}{%- else %}" + _SAY
        + "{%- endif %}" + _DONE,
        *ANY_ROLE,
    ),
    "calls as they are": _sample("{%- for message in messages %}{{- message | tojson }}{%- endfor %}",
        *ANY_ROLE, *CALLS),
}  # fmt: skip
"""What a template can do beyond this is no. `requires_…` stands as it is, all else without its `supports_`."""
