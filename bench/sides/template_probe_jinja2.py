"""The least that a probe by Jinja2 costs: compile each template, and render six conversations."""

import json
import statistics
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bench.measure import emit

environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
environment.filters["tojson"] = lambda value, **_: json.dumps(value, ensure_ascii=False)
environment.filters["from_json"] = json.loads
environment.globals["strftime_now"] = lambda form: form
environment.globals["raise_exception"] = lambda message: message

TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
USER = {"role": "user", "content": "hello"}
SYSTEM = {"role": "system", "content": "be kind"}
CALL = {"id": "callABC01", "type": "function", "function": {"name": "f", "arguments": {"a": "b"}}}
CALLING = {"role": "assistant", "content": "", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "callABC01", "content": "c"}
CONVERSATIONS: list[dict[str, Any]] = [
    {"messages": [USER], "tools": None},
    {"messages": [SYSTEM, USER], "tools": [TOOL]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}], "tools": None},
    {"messages": [USER, CALLING, RESULT], "tools": [TOOL]},
    {"messages": [USER, {**CALLING, "tool_calls": [CALL, CALL]}, RESULT, RESULT], "tools": [TOOL]},
    {"messages": [USER, CALLING, RESULT], "tools": None},
]

taken = []
for path in sorted(Path(sys.argv[1]).iterdir()):
    source = path.read_text().replace("generation %}", "if true %}").replace("endif true %}", "endif %}")
    start = perf_counter()
    try:
        template = environment.from_string(source)
    except Exception:  # noqa: BLE001  # a tag that it doesn't know, with other white space
        continue
    for conversation in CONVERSATIONS:
        try:
            template.render(bos_token="", eos_token="", add_generation_prompt=True, **conversation)
        except Exception:  # noqa: BLE001  # the template won't have it
            continue
    taken.append((perf_counter() - start) * 1e3)
emit("verdict on a chat template, median", statistics.median(taken), "ms", f"jinja2 {version('jinja2')}")
emit("verdict on a chat template, mean", statistics.mean(taken), "ms", f"jinja2 {version('jinja2')}")
