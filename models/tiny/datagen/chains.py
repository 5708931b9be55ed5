"""Two steps of which the second needs what the first brought."""

from __future__ import annotations

from datagen.lists import dumps
from datagen.toolsets import Toolsets


class Chains(Toolsets):
    """Exchanges of dependent calls."""

    def add_chain(self, msgs, flags, tools):
        """Two dependent steps."""
        sp = [t for t in tools if t.spec is not None]
        calc = [
            t
            for t in sp
            if t.spec.domain == "calculator"
            and t.spec.names[0] in ("add", "multiply", "subtract", "divide")
            and len(t.params) == 2
        ]
        if calc and self.chance(0.6):
            a, b = self.pick(calc), self.pick(calc)
            x, y, z = self.number(True), self.number(True), self.number(True)
            first = {
                "add": ["add {x} and {y}", "{x} plus {y}", "sum {x} and {y}"],
                "multiply": ["multiply {x} by {y}", "multiply {x} and {y}", "{x} times {y}"],
                "subtract": ["subtract {y} from {x}", "{x} minus {y}"],
                "divide": ["divide {x} by {y}"],
            }
            then = {
                "add": ["add {z}", "add {z} to the result", "add {z} to it"],
                "multiply": ["multiply the result by {z}", "multiply it by {z}", "times {z}"],
                "subtract": ["subtract {z} from the result", "subtract {z}"],
                "divide": ["divide the result by {z}", "divide it by {z}"],
            }
            na, nb = a.spec.names[0], b.spec.names[0]
            y = y or 3
            z = z or 7
            res = {"add": x + y, "multiply": x * y, "subtract": x - y, "divide": round(x / y, 4)}[na]
            if isinstance(res, float) and res == int(res):
                res = int(res)
            if isinstance(res, float) and b.params[0].arg == "integer":
                return False
            res2 = {"add": res + z, "multiply": res * z, "subtract": res - z, "divide": round(res / z, 4)}[nb]
            txt = (
                self.pick(first[na]).format(x=x, y=y)
                + self.pick([", then ", " and then ", " and ", ", and "])
                + self.pick(then[nb]).format(z=z)
            )
            ka = a.spec.params[0].names
            args_a = {a.params[0].key: x, a.params[1].key: y}
            args_b = {b.params[0].key: res, b.params[1].key: z}
            # parameter order may be shuffled: find which is the first operand
            if a.params[0].key not in ka:
                args_a = self.order_args(a.params, {a.params[1].key: x, a.params[0].key: y})
            if b.params[0].key not in b.spec.params[0].names:
                args_b = self.order_args(b.params, {b.params[1].key: res, b.params[0].key: z})
            r1, r2 = dumps(res), dumps(round(res2, 4))
            if self.chance(0.3):
                k = self.pick(["result", "value", "sum", "output"])
                r1 = dumps({k: res})
            return self.add_steps(msgs, flags, self.wrap(txt), [(a, args_a, r1), (b, args_b, r2)])
        names = {t.spec.names[0]: t for t in sp}
        opts = []
        if "find_contact" in names and "send_email" in names:
            opts.append("mail")
        if "read_file" in names and "write_file" in names:
            opts.append("copy")
        if "get_user" in names and "send_email" in names:
            opts.append("umail")
        if "search_web" in names and "fetch_url" in names:
            opts.append("fetch")
        if opts and self.chance(0.6):
            o = self.pick(opts)
            if o in ("mail", "umail"):
                n, em, body = self.person(), self.email(), self.text()
                b = names["send_email"]
                pm = {p.names[0]: p for p in b.spec.params}
                to_key = next((q.key for q in b.params if q.key in pm["to"].names), None)
                body_key = next((q.key for q in b.params if q.key in pm["body"].names), None)
                if not to_key or not body_key or any(q.required and q.key not in (to_key, body_key) for q in b.params):
                    return False
                args_b = self.order_args(b.params, {to_key: em, body_key: body})
                if o == "mail":
                    a = names["find_contact"]
                    args_a = {a.params[0].key: n}
                    txt = self.one_of(
                        "find the email address of {n} and send them {b}|look up {n} and email them {b}|"
                        "email {n} saying {b}, look up the address first"
                    ).format(n=n, b=self.quote(body, True))
                else:
                    a = names["get_user"]
                    uid = self.between(1, 9999)
                    args_a = {a.params[0].key: uid}
                    txt = self.one_of(
                        "look up user {n} and email them {b}|get user {n} and send them an email saying {b}"
                    ).format(n=uid, b=self.quote(body, True))
                return self.add_steps(
                    msgs,
                    flags,
                    self.wrap(txt),
                    [(a, args_a, dumps({"name": n, "email": em})), (b, args_b, self.status_result())],
                )
            if o == "copy":
                a, b = names["read_file"], names["write_file"]
                p1, p2, c = self.path(), self.path(), self.sentence()
                pm = {p.names[0]: p for p in b.spec.params}
                pk = next((q.key for q in b.params if q.key in pm["path"].names), None)
                ck = next((q.key for q in b.params if q.key in pm["content"].names), None)
                if not pk or not ck:
                    return False
                txt = self.one_of(
                    "read {a} and write its content to {b}|read {a}, then save the content in {b}|"
                    "put the text of {a} into {b}"
                ).format(a=p1, b=p2)
                return self.add_steps(
                    msgs,
                    flags,
                    self.wrap(txt),
                    [
                        (a, {a.params[0].key: p1}, c),
                        (b, self.order_args(b.params, {pk: p2, ck: c}), self.status_result()),
                    ],
                )
            a, b = names["search_web"], names["fetch_url"]
            if any(q.required for q in a.params if q.kind == "int"):
                return False
            qk = next(q.key for q in a.params if q.kind == "query")
            q, u = self.k_query(), self.url()
            txt = self.one_of(
                "search for {q} and open the first result|find a page about {q} and fetch it|"
                "search the web for {q}, then fetch the first hit"
            ).format(q=q)
            r1 = (
                dumps({"title": self.title(), "url": u})
                if self.chance(0.5)
                else dumps([{"title": self.title(), "url": u}])
            )
            return self.add_steps(
                msgs, flags, self.wrap(txt), [(a, {qk: q}, r1), (b, {b.params[0].key: u}, self.sentence())]
            )
        # generic: some other tool's single required argument comes from the first tool's result
        cand = [
            t
            for t in tools
            if t.spec is None
            and [p for p in t.params if p.required and p.kind in ("intid", "code")]
            and len([p for p in t.params if p.required]) == 1
        ]
        look = [
            t
            for t in tools
            if t.spec is None
            and len([p for p in t.params if p.required]) == 1
            and next(p for p in t.params if p.required).kind in ("title", "word", "label", "query", "person")
        ]
        pairs = [(a, b) for a in look for b in cand if a is not b]
        if not pairs:
            return False
        a, b = self.pick(pairs)
        pa = next(p for p in a.params if p.required)
        pb = next(p for p in b.params if p.required)
        va, sa = self.make(pa.kind, pa.arg)
        vb, _ = self.make(pb.kind, pb.arg)
        an, bn = a.domain.split(":")[1], b.domain.split(":")[1]
        verb = b.words[0] if b.words[0] not in bn.split() else b.words[-1]
        ra = self.one_of("find the {n} {v}|look up the {n} {v}|get the {n} {v}|search the {n} {v}")
        if a.words[0] in (
            "search",
            "find",
            "get",
            "fetch",
            "query",
            "lookup",
            "retrieve",
            "show",
            "read",
            "filter",
            "view",
        ):
            pass
        else:
            ra = a.words[0] + " the {n} {v}"
        if an == bn:
            tb = self.pick(["{w} it", "{w} that {n}", "{w} the {n} you found"])
        else:
            tb = self.one_of("{w} its {n}|{w} the {n} of it|{w} the {n} with the id you get")
        txt = (
            ra.format(n=an, v=self.quote(str(sa), True))
            + self.pick([" and then ", ", then ", " and "])
            + tb.format(w=verb, n=bn)
        )
        key = self.pick([pb.key, pb.key, "id"])
        d = {key: vb}
        if self.chance(0.5):
            d = {"name": va, **d} if self.chance(0.5) else {**d, "status": self.pick(["open", "active", "new"])}
        return self.add_steps(
            msgs, flags, self.wrap(txt), [(a, {pa.key: va}, self.json_out(d)), (b, {pb.key: vb}, self.any_result())]
        )

    def add_steps(self, msgs, flags, txt, steps):
        msgs.append({"role": "user", "content": txt})
        for i, (t, a, res) in enumerate(steps):
            msgs.append({"role": "assistant", "content": "", "tool_calls": [self.call(t, a)]})
            flags.append(1)
            if i < len(steps) - 1 and self.chance(0.08):
                res, _ = self.error_result()
                msgs.append({"role": "tool", "content": res})
                break
            msgs.append({"role": "tool", "content": res})
        msgs.append({"role": "assistant", "content": self.answer(res)})
        flags.append(1)
        return True
