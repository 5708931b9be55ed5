"""What the evaluation asks: tools that training never saw, in the generator's own styles."""

from __future__ import annotations

import contextlib
import json

from datagen import HELD_NOUNS, Generator, dumps, load_domains


class Cases:
    def __init__(self, seed):
        self._specs = load_domains("domains_heldout.txt")
        self.generator = Generator(seed, self._specs, nouns=HELD_NOUNS, eval_mode=True)

    def tools(self, kind, n):
        """`n` tools of held-out domains, on held-out nouns, or of nonsense words."""
        g = self.generator
        style = g.tool_style()
        if kind == "nonsense":
            return [g.crud_tool(g.nonsense(), g.nonsense_verb(), style, True) for _ in range(n)]
        if kind == "domains":
            return [g.spec_tool(spec, style) for spec in g.rng.sample(self._specs, n)]
        tools, used = [], set()
        while len(tools) < n:
            noun, verb = g.pick(HELD_NOUNS), g.verb()
            if noun not in used and verb[0][0] not in used:
                used |= {noun, verb[0][0]}
                tools.append(g.crud_tool(noun, verb, style))
        return tools

    def system(self):
        text = self.generator.system()
        return [{"role": "system", "content": text}] if text else []


def calls_of(message):
    """Names and arguments of the calls in an answer; arguments that are no JSON stay text."""
    calls = []
    for call in message.get("tool_calls") or []:
        arguments = call["function"]["arguments"]
        with contextlib.suppress(ValueError):
            arguments = json.loads(arguments)
        calls.append((call["function"]["name"], arguments))
    return calls


def openai_calls(calls):
    return [
        {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": dumps(arguments)}}
        for i, (name, arguments) in enumerate(calls)
    ]


def leaves(result):
    """The values that an answer to this result must contain."""
    try:
        value = json.loads(result)
    except ValueError:
        text = result.strip()
        return [] if text.lower() in ("no results", "none") else [text]
    return list(_leaves(value))


def _leaves(value):
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value
    elif value is not None and not isinstance(value, bool):
        yield dumps(value)
