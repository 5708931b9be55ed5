"""The tools of one conversation, and requests that name a tool outright."""

from __future__ import annotations

from datagen.crud_tools import CrudTools


class Toolsets(CrudTools):
    """Several tools that can be told apart."""

    def toolset(self, n, st):
        """n tools with clear differences; returns list of Tool."""
        ts, names, used = [], set(), set()
        mode = self.rng.random()
        guard = 0
        dom = self.pick(list(self.by_domain))
        noun0 = self.noun()
        verb0 = self.verb()
        while len(ts) < n and guard < 60 + 6 * n:
            guard += 1
            k = self.rng.random()
            if mode < 0.35:  # mixed
                src = "spec" if k < 0.5 else "crud" if k < 0.93 else "non"
            elif mode < 0.6:  # one domain plus others
                src = "dom" if k < 0.55 else "spec" if k < 0.75 else "crud"
            elif mode < 0.75:  # same noun, several verbs
                src = "noun" if k < 0.7 else "crud"
            elif mode < 0.83:  # same verb, several nouns
                src = "verb" if k < 0.7 else "crud"
            elif mode < 0.92:
                src = "non"
            else:
                src = "crud"
            if src in ("spec", "dom"):
                s = self.pick(self.specs) if src == "spec" else self.pick(self.by_domain[dom])
                if id(s) in used or self.same_sums(s, ts):
                    continue
                t = self.spec_tool(s, st)
                key = id(s)
            else:
                if src == "noun":
                    noun, verb = noun0, self.verb()
                elif src == "verb":
                    noun, verb = self.noun(), verb0
                elif src == "crud":
                    noun, verb = self.noun(), self.verb()
                else:
                    noun, verb = (self.nonsense() if self.chance(0.8) else self.noun()), self.nonsense_verb()
                key = (noun, verb[0][0])
                if key in used:
                    continue
                # 'get' and 'get status' style neighbours on one noun are ambiguous: keep one
                near = {
                    "get": 1,
                    "get_status": 1,
                    "track": 1,
                    "verify": 1,
                    "inspect": 1,
                    "test": 1,
                    "measure": 1,
                    "update": 2,
                    "rename": 2,
                    "assign": 2,
                    "move": 2,
                    "rate": 2,
                    "list": 3,
                    "search": 3,
                    "count": 4,
                    "create": 5,
                    "generate": 5,
                    "import": 5,
                    "record": 5,
                    "schedule": 5,
                    "book": 6,
                    "order": 6,
                    "rent": 6,
                    "stop": 7,
                    "cancel": 7,
                    "delete": 8,
                    "archive": 8,
                    "start": 9,
                    "restart": 10,
                    "resume": 9,
                    "open": 11,
                    "enable": 11,
                    "unlock": 12,
                    "close": 13,
                    "disable": 13,
                    "pause": 7,
                    "lock": 14,
                    "reset": 15,
                    "clean": 8,
                }.get(verb[0][0], verb[0][0])
                if (noun, near) in used:
                    continue
                used.add((noun, near))
                t = self.crud_tool(noun, verb, st, src == "non")
            if t.name in names or t.name in self.held_names or len(t.name) > 64:
                continue
            used.add(key)
            names.add(t.name)
            ts.append(t)
        return ts

    def same_sums(self, spec, tools):
        """A calculator and a tool that adds or multiplies: nobody could say which one is meant."""
        if spec.domain != "calculator":
            return False
        is_calculator = spec.names[0] == "calculate"
        return any(t.domain == "calculator" and (t.spec.names[0] == "calculate") != is_calculator for t in tools)

    def explicit(self, t):
        """A request that names the tool and its parameters."""
        vals, parts = {}, []
        ps = [p for p in t.params if p.required or self.chance(0.4)]
        sep = self.pick(["=", "=", " ", ": ", " is ", " set to "])
        for p in ps:
            if p.kind == "obj":
                return None
            if p.kind == "bool":
                v, s = self.chance(0.5), None
                s = "true" if v else "false"
            elif p.kind == "when":
                v = s = self.time()
            else:
                v, s = self.make(p.kind, p.arg)
                if p.kind == "enum":
                    s = v
                if isinstance(v, str) and p.kind in ("title", "text", "wordy", "label", "query", "task"):
                    s = self.quote(s, True)
            vals[p.key] = v
            parts.append(p.key + sep + s if self.chance(0.8) or len(ps) > 2 else s)
        a = self.pick([", ", " and "]).join(parts)
        if not a:
            tm = self.one_of("call {n}|use {n}|run the {n} tool|use the {n} tool|invoke {n}|call the {n} function")
        else:
            tm = self.one_of(
                "call {n} with {a}|use {n} with {a}|run {n} with {a}|use the {n} tool with {a}|"
                "invoke {n}: {a}|{n}({a})|call the {n} function with {a}|use the {n} tool: {a}|"
                "run the tool {n} for {a}"
            )
        return self.wrap(tm.replace("{n}", t.name).replace("{a}", a)), self.order_args(t.params, vals)

    def request_for(self, t):
        r = None
        if self.chance(0.08):
            r = self.explicit(t)
        return r or t.request()

    def call(self, t, args):
        return {"name": t.name, "arguments": args}
