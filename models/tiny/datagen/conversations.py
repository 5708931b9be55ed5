"""Whole conversations, and the generators that make them."""

from __future__ import annotations

import random

from datagen.forced import Forced
from datagen.lists import ALL_NOUNS, JOBS, NOUNS, SYSTEM, SYSTEM_MORE
from datagen.specs import load_domains


class Generator(Forced):
    """Makes conversations; the same seed makes the same ones."""

    def __init__(self, seed, specs, nouns=None, held_names=(), eval_mode=False):
        super().__init__(random.Random(seed))
        self.specs = [spec for spec in specs for _ in range(spec.weight)]
        self.by_domain = {}
        for s in specs:
            self.by_domain.setdefault(s.domain, []).append(s)
        self.nouns = nouns or NOUNS
        self.all_nouns = ALL_NOUNS if nouns is None else nouns
        self.held_names = set(held_names)
        self.eval = eval_mode
        self.own_name = None
        self.starts_with_value = set()  # requests that open with a value, whose case must stay

    def system(self):
        k = self.rng.random()
        if k < 0.35:
            return None
        if k < 0.75:
            s = self.pick(SYSTEM)
        else:
            s = self.pick(SYSTEM) + "".join(
                self.pick([" ", " ", "\n"])
                + self.fill(
                    self.pick(SYSTEM_MORE)
                    .replace("{dir}", self.dir())
                    .replace("{job}", self.pick(JOBS))
                    .replace("{d}", self.isodate())
                )
                for _ in range(self.between(1, 7))
            )
        return s

    def conversation(self):
        """Messages, the tools' schemas, a flag for each message of the assistant, and how it is rendered.

        A flag of 1 means to learn the whole message, "call" a call once it has begun, "arguments" once it has its name;
        otherwise all but its end, which is no place to stop.
        """
        st = self.tool_style()
        n = self._count()
        tools = self.toolset(n, st) if n else []
        k = self.rng.random()
        variant = "qwen" if k < 0.05 else "tags" if k < 0.15 and tools else "json" if k < 0.21 and tools else "ours"
        msgs, flags = [], []
        s = self.system()
        self.own_name = None
        if self.chance(0.05):
            self.own_name = self.person() if self.chance(0.5) else self.nonsense().capitalize()
            s = self.fill_name() + (" " + s if s else "")
        if self.chance(0.03):
            s = self._long_text(s)
        if s:
            msgs.append({"role": "system", "content": s})
        if tools and self.chance(0.04):
            told = variant in ("tags", "json")
            self.add_forced(msgs, flags, tools, told)
            if told:
                variant, flags = "forced " + variant, [1]
            return msgs, [t.schema for t in tools], flags, variant
        if variant in ("tags", "json") and self.chance(0.12):
            self.add_wanted(msgs, flags, tools)
            return msgs, [t.schema for t in tools], flags, "forced " + variant
        turns = 1 if self.chance(0.35) else self.between(2, 4) if self.chance(0.93) else self.between(5, 10)
        if variant == "json":
            turns = 1  # only the last answer is JSON, and only that would be learnt
        done = 0
        tries = 0
        while done < turns and tries < 20:
            tries += 1
            r = self.exchange(msgs, flags, tools, st)
            if r:
                done += 1
            if r == "end":
                break
        return msgs, [t.schema for t in tools], flags, variant

    def fill_name(self):
        return self.one_of(
            "You are {n}.|Your name is {n}.|You are {n}, a helpful assistant.|You are called {n}.|"
            "You are {n}, an assistant for everything.|You are an assistant named {n}. Tell people your name."
        ).format(n=self.own_name)

    def _count(self):
        k = self.rng.random()
        if k < 0.05:
            return 0
        if k < 0.86:
            return self.pick([1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8])
        return self.between(8, 14) if k < 0.95 else self.between(14, 24)

    def _long_text(self, start):
        """A system prompt that has much to say, none of which matters."""
        lines = [self.sentence() if self.chance(0.7) else self.text() for _ in range(self.between(10, 120))]
        return "\n\n".join(filter(None, [start, self.pick(["\n", " ", "\n- "]).join(lines)]))


def held_names():
    """Names of tools that no training conversation may have."""
    return {name for spec in load_domains("domains_heldout.txt") for name in spec.names}


def training_generator(seed):
    return Generator(seed, load_domains("domains_train.txt"), held_names=held_names())
