"""Whole conversations, and the generators that make them."""

from __future__ import annotations

import random

from datagen.exchanges import Exchanges
from datagen.lists import ALL_NOUNS, JOBS, NOUNS, SYSTEM, SYSTEM_MORE
from datagen.specs import load_domains


class Generator(Exchanges):
    """Makes conversations; the same seed makes the same ones."""

    def __init__(self, seed, specs, nouns=None, held_names=(), eval_mode=False):
        super().__init__(random.Random(seed))
        self.specs = specs
        self.by_domain = {}
        for s in specs:
            self.by_domain.setdefault(s.domain, []).append(s)
        self.nouns = nouns or NOUNS
        self.all_nouns = ALL_NOUNS if nouns is None else nouns
        self.held_names = set(held_names)
        self.eval = eval_mode
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
        """Messages, the tools' schemas, a flag for each message of the assistant, and the template's variant.

        1 means to learn the whole message; otherwise all but its end, which is no place to stop.
        """
        st = self.tool_style()
        k = self.rng.random()
        if k < 0.05:
            n = 0
        elif k < 0.965:
            n = self.pick([1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8])
        else:
            n = self.between(8, 16)
        tools = self.toolset(n, st) if n else []
        msgs, flags = [], []
        s = self.system()
        if s:
            msgs.append({"role": "system", "content": s})
        turns = 1 if self.chance(0.35) else self.between(2, 4) if self.chance(0.93) else self.between(5, 10)
        done = 0
        tries = 0
        while done < turns and tries < 20:
            tries += 1
            r = self.exchange(msgs, flags, tools, st)
            if r:
                done += 1
            if r == "end":
                break
        return msgs, [t.schema for t in tools], flags, ("qwen" if self.chance(0.06) else "ours")


def held_names():
    """Names of tools that no training conversation may have."""
    return {name for spec in load_domains("domains_heldout.txt") for name in spec.names}


def training_generator(seed):
    return Generator(seed, load_domains("domains_train.txt"), held_names=held_names())
