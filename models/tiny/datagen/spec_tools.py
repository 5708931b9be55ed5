"""Tools of the domain files, and requests for them."""

from __future__ import annotations

from datagen.lists import STATEMENT
from datagen.results import Results
from datagen.specs import OPTIONAL, SLOT, Param, Tool, snake_words

OTHER_KINDS = {":sum": "sum", ":order": "order"}
"""Of a slot's value in one request alone."""


class SpecTools(Results):
    """Tools that somebody wrote by hand, with their phrasings."""

    def spec_tool(self, s, st):
        ws = snake_words(self.pick(s.names))
        if self.eval:
            name = self.pick(s.names)
        else:
            name = st["prefix"] + self.style_name(ws, st["name"])
            if st["name"] == "dot" and self.chance(0.5):
                name = s.domain + "." + "_".join(ws)
            elif self.chance(0.02):
                name += self.pick(["_tool", "_v2", "Tool", "2"])
        ps, remap = [], {}
        for q in s.params:
            if not q.required and self.chance(0.4) and not self.eval:
                continue
            n = self.pick(q.names) if not self.eval else q.names[0]
            if st["pname"] == "camel" and not self.eval:
                n = self.style_name(snake_words(n), "camel")
            if n in remap.values():
                n = q.names[0]
                if n in remap.values():
                    continue
            arg = self.fix_kind(q)
            ps.append(Param(n, None, q.kind, arg, q.required or (self.chance(0.08) and not self.eval), q.descs))
            remap[q.key] = n
        if self.chance(0.12) and not self.eval:
            self.rng.shuffle(ps)
        t = Tool()
        t.name, t.params, t.domain, t.spec = name, ps, s.domain, s
        d = self.pick(s.descs) if self.chance(st["desc"]) else None
        t.desc = self.finish_desc(d, ps, st) if d else None
        t.schema = self.build(name, t.desc, ps, st)
        t.words = ws
        t.request = lambda: self.spec_request(t, s, remap)
        t.result = lambda args: self.spec_result(s, remap, args)
        return t

    def quote(self, v, flag):
        k = self.rng.random()
        m = (1 if k < 0.42 else 2 if k < 0.75 else 0) if flag else 1 if k < 0.05 else 2 if k < 0.1 else 0
        if m == 1 and "'" not in v:
            return "'" + v + "'"
        if m and '"' not in v:
            return '"' + v + '"'
        return v

    def order_args(self, params, vals):
        a = {p.key: vals[p.key] for p in params if p.required and p.key in vals}
        for p in params:
            if not p.required and p.key in vals:
                a[p.key] = vals[p.key]
        return a

    def spec_request(self, t, s, remap):
        byk = {p.key: p for p in t.params}
        reqk = {k for k, n in remap.items() if byk[n].required}
        for _ in range(20):
            tm = self.pick(s.reqs)

            def opt(m):
                slots = [x[0] for x in SLOT.findall(m.group(1))]
                if not all(x in remap for x in slots):
                    return ""
                if any(x in reqk for x in slots) or self.chance(0.5):
                    return m.group(1)
                return ""

            tm = OPTIONAL.sub(opt, tm)
            slots = {m[0] for m in SLOT.findall(tm)}
            if slots <= remap.keys() and reqk <= slots:
                break
        else:
            return None
        vals = {}

        def fill(m):
            k, q, kind = m.group(1), m.group(2), OTHER_KINDS.get(m.group(3))
            p = byk[remap[k]]
            v, surf = self.make(kind or p.kind, p.arg)
            vals[p.key] = v
            if isinstance(v, str) and not kind and p.kind not in ("enum", "when", "airport", "code", "code2"):
                surf = self.quote(surf, bool(q))
            return surf

        stmt = "value" if tm.startswith("{") else False
        tm = SLOT.sub(fill, tm)
        return self.wrap(tm, stmt), self.order_args(t.params, vals)

    def wrap(self, t, stmt=False):
        """Politeness, capitals and punctuation around a request; stmt: not an imperative."""
        q = t.endswith("?")
        k = self.rng.random()
        if STATEMENT.match(t) or stmt:
            if k < 0.1 and not q:
                t = t + self.one_of(", please| please|, thanks| right away|, ok?")
            elif k < 0.16:
                t = self.pick(["hey, ", "hi, ", "ok, ", "so, ", "please: "]) + t
        elif not q:
            if k < 0.12:
                t = self.one_of("please |Please |now |hey, |next, |ok, ") + t
            elif k < 0.22:
                t = (
                    self.one_of("can you |could you |would you |can you please |could you please |would you mind to ")
                    + t
                    + "?"
                )
            elif k < 0.32:
                t = (
                    self.one_of(
                        "I want you to |I need you to |I'd like you to |I would like to |help me to |"
                        "go ahead and |let's |I want to "
                    )
                    + t
                )
            elif k < 0.38:
                t = t + self.one_of(", please| please| for me| now|, thanks| right away")
            elif k < 0.4:
                t = "Use a tool to " + t
        elif k < 0.06:
            t = self.one_of("hey, |tell me, |please tell me: |quick question: |so, ") + t
        elif k < 0.12:
            t = t[:-1]
        if self.chance(0.7) and stmt != "value":
            t = t[0].upper() + t[1:]
        if not t.endswith(("?", ".", "!")) and self.chance(0.3):
            t += "."
        if stmt == "value":
            if len(self.starts_with_value) > 500:
                self.starts_with_value.clear()
            self.starts_with_value.add(t)
        return t
