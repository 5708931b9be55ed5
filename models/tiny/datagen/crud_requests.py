"""Requests for tools that are made of a noun and a verb."""

from __future__ import annotations

from typing import NamedTuple

from datagen.lists import OBJECT_PHRASES, PHRASES, plural
from datagen.specs import Param
from datagen.verbs import Verbs


class CrudPlan(NamedTuple):
    """What a request for a made-up tool needs to know of it."""

    noun: str
    requests: list[str]
    params: list[Param]
    phrases: dict[str, tuple]
    """How to say each parameter, and what to call it. A phrase of "\\x01" or "\\x02" is one end of a pair."""
    identity: Param | None
    """The parameter that says which one is meant."""
    identity_forms: list[str]
    query: Param | None


def with_article(text, noun):
    return text.replace(" a {n}", " an {n}") if noun[0] in "aeiou" else text


class CrudRequests(Verbs):
    """Says what a tool of a noun and a verb is to do."""

    def crud_request(self, plan):
        """A request for the tool, and the arguments that it asks for."""
        vals = {}
        tm = with_article(self.pick(plan.requests), plan.noun)
        if tm.endswith(" {x}") and plan.identity is not None and self.chance(0.12):
            w_ = tm[:-4]
            tm = (
                self.one_of(
                    "take {x} and %s it|I have {x}, %s it|there is {x}, %s it|{x}: %s it|about {x}, %s it|"
                    "{x} is here, please %s it|I want to %s {x}|we have to %s {x}|I'd like to %s {x}"
                )
                % w_
            )
        elif tm.endswith(" a {n}") and self.chance(0.1):
            w_ = tm[:-6]
            tm = (
                self.one_of(
                    "I want to %s a {n}|we should %s a {n}|I'd like to %s a {n}|it is time to %s a {n}|"
                    "%s me a {n}|%s another {n}|%s the {n}"
                )
                % w_
            )
        q = tm.endswith("?")
        st0 = "value" if tm.startswith("{") else False
        own = "{o}" in tm
        tm = tm.replace("{o}", "{x}")
        if tm.endswith(" {x}") and self.chance(0.06):
            tm += self.one_of(" now| again| for me| today| as soon as possible| down| up| a bit| once more| tomorrow")
        if q:
            tm = tm[:-1]
        if "{x}" in tm:
            if plan.identity is None:
                tm = tm.replace("{x}", self.pick(["the {n}", "my {n}", "the {n}"]))
            else:
                val, surf = self.make(plan.identity.kind, plan.identity.arg)
                vals[plan.identity.key] = val
                if isinstance(val, str) and plan.identity.kind in ("title", "wordy", "label"):
                    surf = self.quote(surf, self.chance(0.5))
                tm = tm.replace(
                    "{x}",
                    self.pick(plan.identity_forms).replace("{v}", surf, 1)
                    if "{v}" not in surf and not (own and self.chance(0.7))
                    else surf,
                )
        if "{q}" in tm:
            val, surf = self.make(plan.query.kind, plan.query.arg)
            vals[plan.query.key] = val
            tm = tm.replace("{q}", self.quote(surf, self.chance(0.5)))
        extra = [
            p
            for p in plan.params
            if p is not plan.identity and p is not plan.query and (p.required or self.chance(0.45))
        ]
        if "a {n}" in tm or "new {n}" in tm:
            en = [p for p in extra if p.kind in ("enum", "color")]
            if en and self.chance(0.4):
                val, surf = self.make(en[0].kind, en[0].arg)
                vals[en[0].key] = val
                extra.remove(en[0])
                tm = tm.replace(" a {n}", (" an " if surf[0] in "aeiou" else " a ") + surf + " {n}").replace(
                    "new {n}", "new " + surf + " {n}"
                )
        tm = tm.replace("{ns}", plural(plan.noun)).replace("{n}", plan.noun)
        if plan.identity is not None and plan.identity.key not in vals:
            extra.insert(0, plan.identity)
        if self.chance(0.3):
            self.rng.shuffle(extra)
        parts = self._phrased(plan, extra, vals)
        if parts:
            j = self.rng.random()
            if self.chance(0.09):
                tm = (
                    parts[0]
                    + self.pick([", ", ": ", ". ", ", please "])
                    + tm
                    + (" " + self.pick([" and ", ", "]).join(parts[1:]) if len(parts) > 1 else "")
                )
                return self.wrap(tm + ("?" if q else ""), "value"), self.order_args(plan.params, vals)
            if j < 0.5:
                tm += " " + " ".join(parts[:1]) + "".join(self.pick([" and ", ", ", " "]) + x for x in parts[1:])
            elif j < 0.9:
                tm += ", " + ", ".join(parts) if j < 0.7 else " " + " and ".join(parts)
            else:
                tm += ": " + ", ".join(parts)
        return self.wrap(tm + ("?" if q else ""), st0), self.order_args(plan.params, vals)

    def _phrased(self, plan, extra, vals):
        """How a request says the other arguments, which go into `vals`."""
        parts = []
        pa = [p for p in extra if plan.phrases[p.key][0] == ["\x01"]]
        pb = [p for p in extra if plan.phrases[p.key][0] == ["\x02"]]
        if pa and pb and self.chance(0.7):
            (v1, s1), (v2, s2) = self.make(pa[0].kind, pa[0].arg), self.make(pb[0].kind, pb[0].arg)
            vals[pa[0].key], vals[pb[0].key] = v1, v2
            extra = [p for p in extra if p not in (pa[0], pb[0])]
            parts.append(
                self.pick(
                    [
                        "from %s to %s",
                        "from %s to %s",
                        "between %s and %s",
                        plan.phrases[pa[0].key][1] + " %s, " + plan.phrases[pb[0].key][1] + " %s",
                        plan.phrases[pa[0].key][1] + " %s and " + plan.phrases[pb[0].key][1] + " %s",
                    ]
                )
                % (s1, s2)
            )
        for p in extra:
            ph, ws = plan.phrases[p.key]
            if ph and ph[0] < "\x05":
                ph = []
            if p.kind == "obj":
                o, pr, said = {}, [], []
                for n, k2 in p.arg:
                    vv, ss = self.make(k2, (1, 999) if k2 == "int" else None)
                    o[n] = vv
                    said.append(str(ss))
                    pr.append(n + " " + str(ss))
                vals[p.key] = o
                if tuple(o) in OBJECT_PHRASES and self.chance(0.75):
                    parts.append(self.pick(OBJECT_PHRASES[tuple(o)]).format(*said))
                    continue
                parts.append(
                    self.one_of("with %s %s|%s %s|with the %s: %s|where the %s has %s")
                    % (ws, self.pick([" and ", ", "]).join(pr))
                )
                continue
            val, surf = self.make(p.kind, p.arg)
            vals[p.key] = val
            if p.kind == "bool":
                parts.append(surf.replace("{w}", ws))
                continue
            if isinstance(val, str) and p.kind in ("title", "text", "wordy", "label", "query"):
                surf = self.quote(surf, True)
            t_ = (
                self.pick(ph)
                if ph and self.chance(0.55)
                else self.pick(PHRASES)
                if p.kind != "enum" or self.chance(0.5)
                else self.one_of(
                    "{v} {w}|with {v} {w}|in {v} {w}|at {v} {w}|on {v} {w}|to {v} {w}|the {v} {w}|as {v}|use {v}|"
                    "using the {v} {w}|{v}"
                )
            )
            parts.append(t_.replace("{w}", ws, 1).replace("{v}", surf, 1))
        return parts
