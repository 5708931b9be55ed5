"""What the evaluation asks: tools that training never saw, in the generator's own styles."""

from __future__ import annotations

import contextlib
import json
import re

from datagen import HELD_NOUNS, Generator, dumps, load_domains

ARITHMETIC = [
    ("what is {a} plus {b}?", "{a} + {b}"),
    ("if I have {a} and add {b}, how much is that?", "{a} + {b}"),
    ("tell me what {a} plus {b} makes", "{a} + {b}"),
    ("what do {a} and {b} add up to?", "{a} + {b}"),
    ("add {a} and {b}", "{a} + {b}"),
    ("please work out {a} minus {b} for me", "{a} - {b}"),
    ("what is left of {a} if I take away {b}?", "{a} - {b}"),
    ("by how much is {a} more than {b}?", "{a} - {b}"),
    ("{a} times {b}", "{a} * {b}"),
    ("{a} times {b} is what?", "{a} * {b}"),
    ("what does {a} multiplied with {b} give?", "{a} * {b}"),
    ("use the calculator for {a} times {b}", "{a} * {b}"),
    ("what would {a} times {b} be?", "{a} * {b}"),
    ("I have to know how much {a} times {b} is", "{a} * {b}"),
    ("I need the result of {a} divided by {b}", "{a} / {b}"),
    ("if {b} people share {a} dollars, how much is it for each?", "{a} / {b}"),
    ("can you figure out half of {a}?", "{a} / 2"),
    ("how many are twice {a}?", "{a} * 2"),
    ("what is the half of {a}?", "{a} / 2"),
    ("so {a} plus {b} plus {c} makes?", "{a} + {b} + {c}"),
    ("what comes out if I multiply {a} by {b} and then add {c}?", "{a} * {b} + {c}"),
    ("would you be so kind and divide {a} by {b}?", "{a} / {b}"),
]
"""Phrasings that training has not, with what a calculator is to get."""
CALCULATORS = ["calculator", "calculate", "evaluate_math", "mathTool"]
QUESTIONS = [
    *("Who discovered penicillin?", "How old is the sun?", "Which language is the hardest?", "Can fish sleep?"),
    *(
        "What made the Roman empire fall?",
        "Recite the alphabet backwards.",
        "Why do cats purr?",
        "Count sheep with me.",
    ),
    *("Which of us is right?", "Is water wet?", "Give me a riddle.", "What did Plato teach?", "Who composed Carmen?"),
    *("How is glass blown?", "Should I learn the piano?", "What comes after the end of time?", "Make up a new word."),
]
"""Nothing that a tool could do, in words that training has not."""


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

    def arithmetic(self):
        """A question in words, the expression for it, and a calculator."""
        g = self.generator
        asked, expression = g.pick(ARITHMETIC)
        most = g.pick([99, 999, 9999])  # of four digits, training has none in words
        numbers = {name: g.between(2 if most < 9999 else 1000, most) for name in "abc"}
        asked = asked.format(**numbers)
        schema = {
            "name": g.pick(CALCULATORS),
            "description": g.pick(["Evaluate an arithmetic expression.", "Calculator", "Does sums."]),
            "parameters": {
                "type": "object",
                "properties": {"expression": {"type": "string", "description": "The expression, such as 2 + 2"}},
                "required": ["expression"],
            },
        }
        asked = asked[0].upper() + asked[1:] if g.chance(0.5) else asked
        return asked, expression.format(**numbers), {"type": "function", "function": schema}

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


AROUND = {"the", "is", "and", "are", "was", "were", "here", "done", "no", "found", "tool", "returned", "nothing"}
AROUND |= {"result", "results", "true", "false", "null"}
"""Words that an answer may have around the values that it quotes, besides the names that the result gives them."""


def is_quoted(result, text):
    """Whether an answer holds each value of the result, and nothing else that matters."""
    left = text
    for value in sorted(leaves(result), key=len, reverse=True):
        if value not in left:
            return False
        left = left.replace(value, " ", 1)
    if re.search(r"[<>{}]", left):
        return False
    names = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", " ".join(_names(result)))
    return {*_words(left)} <= AROUND | {*_words(names)}


def _words(text):
    return re.findall(r"[^\W_]+", text.lower())


def _names(result):
    """What a result calls its values, at any depth."""
    names = []
    with contextlib.suppress(ValueError):
        json.loads(result, object_pairs_hook=lambda pairs: names.extend(str(name) for name, _ in pairs) or dict(pairs))
    return names


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
