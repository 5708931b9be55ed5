"""Calls that have to be made although nobody asked for one, as `tool_choice` can force them."""

from __future__ import annotations

import re

from datagen.exchanges import Exchanges
from datagen.lists import JOBS, NO_TOOL, OPEN_QUESTIONS, SMALL_TALK, split

HINTS = split(
    "I am going to {v}.|tell me something about {v}|I like {v}|{v}|what do you think of {v}?|have you heard of {v}?|"
    "{v} is nice|my friend told me about {v}|I dreamt of {v}|what about {v}?|let's talk about {v}|{v}, please|"
    "I was thinking of {v} today|is {v} any good?|{v} is great|we spoke about {v} yesterday|what is {v} like?|"
    "there is {v}|I have {v} in mind|hello, it's about {v}|say something on {v}|do you know {v}?|I love {v}!"
)
HINTED = split(
    "city|person|path|country|word|host|thing|url|service|code|room|title|dir|airport|query|label|company|email|date"
)
LONGEST = 8
"""Words of a request that become a value."""


class Forced(Exchanges):
    """Calls that are learnt once they have begun: whether to begin them, the prompt doesn't say."""

    def add_wanted(self, msgs, flags, tools):
        """One call, asked for, where one has to be made."""
        t = self.pick(tools)
        if r := self.request_for(t):
            msgs.append({"role": "user", "content": r[0]})
            msgs.append({"role": "assistant", "content": "", "tool_calls": [self.call(t, r[1])]})
            flags.append(1)

    def add_forced(self, msgs, flags, tools, held):
        t = self.pick(tools)
        hinted = [p for p in t.params if p.required and p.kind in HINTED]
        if len(hinted) == 1 and self.chance(0.7):
            value, said = self.make(hinted[0].kind, hinted[0].arg)
            hint = self.pick(HINTS)
            if not hint.startswith("{") and self.chance(0.6):
                hint = hint[0].upper() + hint[1:]
            text = hint.replace("{v}", self.quote(said, self.chance(0.2)))
            name_too, answer = len(tools) == 1 or self.chance(0.5), NO_TOOL
        else:
            value, name_too = None, False
            texts, answers = self.pick(SMALL_TALK)
            text, answer = self.pick(texts), self.pick(answers)
            if self.chance(0.6):
                question = self.pick(OPEN_QUESTIONS).replace("{t}", self.title()).replace("{job}", self.pick(JOBS))
                text, answer = self.fill(question), NO_TOOL
            if self.chance(0.6):
                text = text[0].upper() + text[1:]
        schema = t.schema["function"]["parameters"]
        arguments = {
            p.key: value if value is not None and p in hinted else self._guess(schema["properties"][p.key], text)
            for p in t.params
            if p.required
        }
        # Held to a grammar that wants a call, a model may speak before it.
        spoken = answer if not held and self.chance(0.6) else ""
        msgs.append({"role": "user", "content": text})
        msgs.append({"role": "assistant", "content": spoken, "tool_calls": [self.call(t, arguments)]})
        flags.append("arguments" if not name_too else "call")

    def _guess(self, schema, text):
        """Something that fits: the request itself, the number in it, or the first choice."""
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type") or schema["anyOf"][0]["type"]
        if kind == "object":
            required = schema.get("required", [])
            return {name: self._guess(inner, text) for name, inner in schema["properties"].items() if name in required}
        if kind in ("integer", "number"):
            found = re.search(r"\d+", text)
            return int(found[0]) if found else 1
        if kind == "boolean":
            return True
        if kind == "array":
            return [self._guess(schema["items"], text)]
        return " ".join(text.rstrip("?.!").split()[:LONGEST])
