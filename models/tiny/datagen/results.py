"""What tools send back, and the one answer that the model gives to it."""

from __future__ import annotations

import json
import re

from datagen.lists import ATTRIBUTES, ERRORS, EXCEPTIONS, dumps
from datagen.schemas import Schemas
from datagen.specs import snake_words


class Results(Schemas):
    """Results of calls, errors, and answers."""

    def spec_result(self, s, remap, args):
        if not s.outs or self.chance(0.12):
            return self.any_result()
        o = self.pick(s.outs)
        if o.startswith("text:"):

            def f(m):
                k = m.group(1)
                if k in remap and remap[k] in args and not isinstance(args[remap[k]], (list, dict)):
                    return str(args[remap[k]])
                if k == "int":
                    return str(self.between(1, 500))
                return str(self.make(k)[0])

            return re.sub(r"\{(\w+)\}", f, o[5:])
        if o.startswith("calc:"):
            vs = list(args.values())
            a, b = ([*vs, 1, 1])[:2]
            try:
                v = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else None}[o[5:]]
            except TypeError:
                v = 0
            if v is None:
                return "Error: division by zero"
            v = round(v, 4)
            if isinstance(v, float) and v == int(v) and self.chance(0.5):
                v = int(v)
            return self.scalar(v)
        if o.startswith("num:"):
            k = o[4:]
            return self.scalar(self.make(k, (1, 9999))[0])
        if o == "status":
            return self.status_result()
        if o == "bool":
            return self.pick(["true", "false", "True", "False", "yes", "no"])
        if o == "content":
            n = self.between(1, 4)
            return "\n".join(self.sentence() for _ in range(n))
        if o == "echo":
            return str(next(iter(args.values()), "ok"))
        if o in ("timeval", "dateval"):
            return self.time() if o == "timeval" else self.isodate()
        if o in ("filelist", "titles", "words"):
            f = {"filelist": self.path, "titles": self.title, "words": self.k_word}[o]
            return self.list_result(f)
        d = {}
        for part in o.split(", "):
            k, _, kind = part.partition("=")
            if kind == "bool":
                d[k] = self.chance(0.5)
            else:
                d[k] = self.make(kind, (1, 999) if kind == "int" else None)[0]
        return self.json_out(d)

    def json_out(self, d):
        k = self.rng.random()
        if k < 0.85:
            return dumps(d)
        if k < 0.95:
            return json.dumps(d, ensure_ascii=False, separators=(",", ":"))
        return json.dumps(d, ensure_ascii=False, indent=2)

    def scalar(self, v):
        k = self.rng.random()
        s = json.dumps(v)
        if k < 0.65:
            return s
        return self.json_out({self.pick(["result", "result", "value", "answer", "output"]): v})

    def list_result(self, f):
        n = self.between(0, 5) if self.chance(0.5) else self.between(1, 3)
        xs = [f() for _ in range(n)]
        k = self.rng.random()
        if k < 0.6:
            return dumps(xs)
        if k < 0.75:
            return dumps({self.pick(["results", "items", "files", "data"]): xs})
        if not xs:
            return self.pick(["No results", "nothing found", "[]"])
        return "\n".join(xs)

    def status_result(self):
        k = self.rng.random()
        if k < 0.4:
            return self.one_of("ok|done|success|OK|Done|sent|saved|true|null|created|completed|updated")
        if k < 0.6:
            return dumps(
                {self.pick(["status", "result", "state"]): self.one_of("ok|done|success|sent|created|saved|queued")}
            )
        if k < 0.75:
            return dumps({self.pick(["success", "ok"]): True})
        if k < 0.9:
            return dumps(
                {
                    "status": self.pick(["ok", "created", "queued", "sent"]),
                    self.pick(["id", "job_id", "ref", "request_id"]): self.code()
                    if self.chance(0.5)
                    else self.between(1, 9999),
                }
            )
        return self.fill(
            self.one_of(
                "The {w} was updated.|{w} saved|Everything is done.|Operation finished in {n} seconds|"
                "It worked.|Accepted, ticket {n2}"
            )
        )

    def any_result(self):
        k = self.rng.random()
        if k < 0.25:
            return self.status_result()
        if k < 0.6:
            d = {}
            for _ in range(self.pick([1, 1, 2, 2, 3, 4])):
                nm, (kind, arg), _ = self.pick(ATTRIBUTES)
                if kind in ("obj", "words", "things", "persons", "nums"):
                    continue
                key = self.pick(nm) if self.chance(0.75) else self.ident().replace("-", "_").replace(".", "_")
                if kind == "bool":
                    d[key] = self.chance(0.5)
                else:
                    d[key] = self.make(kind, arg)[0]
            return self.json_out(d) if d else "ok"
        if k < 0.75:
            return self.pick([self.sentence, self.text, self.sentence])()
        if k < 0.85:
            return self.list_result(self.pick([self.title, self.person, self.k_word, self.gibberish, self.path]))
        if k < 0.9:
            n1, n2 = self.rng.sample(["name", "title", "id", "price", "url", "score", "city"], 2)
            f = {
                "name": self.person,
                "title": self.title,
                "id": self.code,
                "price": self.money,
                "url": self.url,
                "score": self.k_pct,
                "city": self.city,
            }
            return dumps([{n1: f[n1](), n2: f[n2]()} for _ in range(self.between(1, 3))])
        if k < 0.97:
            return self.scalar(self.number())
        return self.gibberish()

    def error_result(self):
        e = self.pick(ERRORS)
        e = e.replace("{h}", self.host()).replace("{pa}", self.path())
        e = self.fill(e)
        k = self.between(0, 7)
        if k <= 1:
            return "Error: " + e, e
        if k == 2:
            return dumps({"error": e}), e
        if k == 3:
            x = self.pick(EXCEPTIONS) + ": " + e
            return x, x
        if k == 4:
            return dumps({"status": "error", "message": e}), e
        if k == 5:
            return dumps({"success": False, "error": e}), e
        if k == 6:
            x = self.pick(EXCEPTIONS) + ": " + e
            return "Error: " + x, x
        return "error: " + e, e

    def answer(self, res):
        """The one canonical answer to a result text."""
        s = res.strip()
        if not s:
            return "The tool returned nothing."
        low = s.lower()
        if low in ("true", "null", "none"):
            return "Done: " + s + "." if low == "true" else "Done."
        if low in ("ok", "done", "success", "sent", "saved", "created", "completed", "updated"):
            return "Done: " + s + "."
        try:
            o = json.loads(s)
        except ValueError:
            if low.startswith("error: "):
                return "Sorry, that failed: " + s[7:].rstrip(".") + "."
            if re.match(r"[A-Za-z]+Error: ", s):
                return "Sorry, that failed: " + s.rstrip(".") + "."
            if "\n" in s:
                return "Here is the result:\n" + s
            if " " not in s:
                return "The result is " + s + "."
            return s
        if isinstance(o, dict):
            if not o:
                return "The tool returned nothing."
            if "error" in o:
                return "Sorry, that failed: " + str(o["error"]).rstrip(".") + "."
            if o.get("status") == "error":
                return "Sorry, that failed: " + str(o.get("message")).rstrip(".") + "."
            if len(o) == 1:
                k, v = next(iter(o.items()))
                if isinstance(v, list):
                    return self.list_answer(v)
                if k in ("success", "ok") and v is True:
                    return "Done."
                if k in ("result", "value", "answer", "output"):
                    return "The result is " + self.plain(v) + "."
            parts = []
            for k, v in o.items():
                kw = " ".join(x for x in snake_words(k) if x)
                parts.append("the " + kw + " is " + self.plain(v))
            a = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
            pre = "Done, " if o.get("status") in ("ok", "done", "success", "created", "queued", "sent", "saved") else ""
            a = pre + a if pre else a[0].upper() + a[1:]
            return a + "."
        if isinstance(o, list):
            return self.list_answer(o)
        return "The result is " + s + "."

    def plain(self, v):
        if isinstance(v, str):
            return v
        return dumps(v)

    def list_answer(self, o):
        if not o:
            return "No results were found."
        xs = []
        for x in o:
            if isinstance(x, dict):
                xs.append(", ".join(self.plain(v) for v in x.values()))
            else:
                xs.append(self.plain(x))
        if any(isinstance(x, dict) for x in o):
            return "Results: " + "; ".join(xs) + "."
        return "Results: " + (xs[0] if len(xs) == 1 else ", ".join(xs[:-1]) + " and " + xs[-1]) + "."
