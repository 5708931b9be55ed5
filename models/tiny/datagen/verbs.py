"""What a made-up tool does, and to what."""

from __future__ import annotations

from datagen.lists import MORE_VERBS, VERBS, WORDS, plural, split
from datagen.spec_tools import SpecTools

_QUESTIONS = split(
    "what is the %s of {x}?|what's the %s of {x}?|what is the %s for {x}?|get the %s of {x}|"
    "look up the %s for {x}|show me the %s of {x}|tell me the %s of {x}|which %s does {x} have?|"
    "what %s does {x} have?|what %s did {x} get?|I need the %s of {x}|read the %s of {x}|"
    "check the %s of {x}|give me the %s for {x}|I want to know the %s of {x}|how is the %s of {x}?|"
    "how much %s does {x} need?|find the %s of {x}|get me the %s for {x}|what is {o}'s %s?|"
    "when is {o}'s %s?|where is {o}'s %s?|show me {o}'s %s|what's {o}'s %s?|get {o}'s %s|"
    "when is the %s of {x}?|where is the %s of {x}?|who has the %s of {x}?|which %s are there for {x}?|"
    "do you know the %s of {x}?"
)


class Verbs(SpecTools):
    """A verb has names, descriptions and requests, and a letter for what it does; see `lists.VERBS`."""

    def noun(self):
        k = self.rng.random()
        if k < 0.55:
            n = self.pick(self.nouns)
        elif k < 0.9:
            n = self.pick(self.all_nouns)
        else:
            n = self.nonsense()
        if self.chance(0.2):
            n = self.pick(self.nouns if self.chance(0.7) else self.all_nouns) + " " + n
        return n

    def verb(self):
        k = self.rng.random()
        if k < 0.5:
            return self.pick(VERBS)
        if k < 0.68:
            return self.pick(MORE_VERBS)
        if k < 0.76:
            w = self.pick(WORDS)
            return (
                [w],
                [f"{w.capitalize()} a {{n}}", f"{w.capitalize()} the {{n}}"],
                [w + " {x}", w + " the {n}"] if self.chance(0.5) else [w + " a {n}", w + " a new {n}"],
                self.pick("CIU"),
            )
        thing = (
            self.pick(self.all_nouns) if self.chance(0.5) else self.pick(self.all_nouns) + " " + self.pick(self.nouns)
        )
        if self.chance(0.2):
            thing = plural(thing)
        u = thing.replace(" ", "_")
        nm = [u, u, "get_" + u, "read_" + u, u + "_lookup", "check_" + u, "lookup_" + u, "show_" + u, "find_" + u]
        return (
            [self.pick(nm)],
            [
                f"Get the {thing} of a {{n}}",
                f"{thing.capitalize()} of a {{n}}",
                f"Look up the {thing} of a {{n}}",
                f"Read the {thing} for a {{n}}",
                f"Get the latest {thing} for a {{n}}",
                f"Show the {thing} of a {{n}}",
                f"Returns the {thing}",
                f"Find the {thing} of the {{n}}",
            ],
            [question % thing for question in _QUESTIONS],
            "P",
        )

    def nonsense_verb(self):
        v = self.nonsense()
        ty = self.pick("CIIUL")
        if ty == "C":
            return (
                [v],
                [f"{v.capitalize()} a {{n}}", f"{v.capitalize()}s a {{n}}", f"{v.capitalize()} one {{n}}"],
                [v + " a {n}", v + " one {n}", "I need to " + v + " a {n}"],
                "C",
            )
        if ty == "L":
            return (
                [v],
                [f"{v.capitalize()} all {{ns}}", f"{v.capitalize()} the {{ns}}"],
                [v + " all {ns}", v + " the {ns}", v + " every {n}"],
                "L",
            )
        return (
            [v],
            [f"{v.capitalize()} a {{n}}", f"{v.capitalize()} the given {{n}}", f"{v.capitalize()}s a {{n}}"],
            [v + " {x}", v + " {x}"],
            ty,
        )
