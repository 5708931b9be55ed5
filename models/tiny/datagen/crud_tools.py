"""Tools that are made of a noun and a verb."""

from __future__ import annotations

from datagen.crud_requests import CrudPlan, CrudRequests, with_article
from datagen.lists import (
    ATTRIBUTES,
    DESCRIPTIONS,
    DIMENSION_UNITS,
    DIMENSIONS,
    FALSE_PHRASES,
    OBJECTS,
    PAIRS,
    ROLE_KINDS,
    TRUE_PHRASES,
    WORDS,
    plural,
)
from datagen.specs import Param, Tool, snake_words


class CrudTools(CrudRequests):
    """Tools that nobody wrote: any verb on any noun."""

    def crud_tool(self, noun, verb, st, nonsense=False):
        names, descs, reqs, ty = verb
        ns = plural(noun)
        nw = noun.split(" ")
        v = self.pick(names)
        k = self.rng.random()
        base = v.split("_") + ((ns if ty in "LS" else noun).split(" "))
        if ty == "P":
            base, ty = v.split("_"), "I"
            v = "_".join(base)
        elif k < 0.06 and "_" not in v:
            base = [*noun.split(" "), v]
        nm = self.style_name(base, st["name"])
        if st["name"] == "dot":
            nm = "_".join(nw if self.chance(0.5) else plural(noun).split(" ")) + "." + v
        name = st["prefix"] + nm
        used, ps, meta = set(), [], {}

        def add(key, kind, arg, req, phrases, ws, descs):
            if st["pname"] == "camel":
                key = self.style_name(snake_words(key), "camel")
            if key in used:
                return None
            used.add(key)
            if kind in ("num", "nums"):
                arg = "integer" if self.chance(0.4) else None
            if kind == "nums" and "ids" in key:
                arg = "integer"
            p = Param(key, None, kind, arg, req, descs)
            ps.append(p)
            meta[key] = (phrases, ws)
            return p

        idp, idf = None, []
        if ty in "IU" and self.chance(0.97):
            j = self.rng.random()
            u = "_".join(nw)
            if j < 0.35:
                idp = add(
                    self.pick([u + "_id", "id", nw[-1] + "_id"]),
                    self.pick(["intid", "code", "code"]),
                    None,
                    True,
                    None,
                    "id",
                    ["Id of the " + noun, "The " + noun + " id", "Identifier of the " + noun],
                )
                idf = [
                    "{n} {v}",
                    "{n} {v}",
                    "{n} number {v}",
                    "{n} with id {v}",
                    "the {n} with id {v}",
                    "the {n} {v}",
                    "{n} id {v}",
                ]
            elif j < 0.8:
                idp = add(
                    self.pick(["name", u + "_name", u, nw[-1] + "_name", "target", u]),
                    self.one_of("title|word|label|ident|wordy|person|city|company|path|host|airport|person|thing"),
                    None,
                    True,
                    None,
                    "name",
                    ["Name of the " + noun, "The " + noun, "The name of the " + noun, "Which " + noun],
                )
                idf = [
                    "the {n} {v}",
                    "the {n} {v}",
                    "the {n} named {v}",
                    "the {n} called {v}",
                    "the {v} {n}",
                    "{n} {v}",
                    "my {n} {v}",
                    "{v}",
                ]
            else:
                w = self.one_of("code|reference|number|key|serial|slug|title|label")
                idp = add(
                    self.pick([w, u + "_" + w, w]),
                    self.pick(["code", "code2", "ident", "word", "rand"]),
                    None,
                    True,
                    None,
                    w,
                    ["The " + w + " of the " + noun, w.capitalize() + " of the " + noun],
                )
                idf = ["the {n} with " + w + " {v}", "the {n} with the " + w + " {v}", "{n} {v}", "the {n} {v}"]
        qp = None
        if ty == "S":
            qp = add(
                self.pick(["query", "q", "keyword", "text", "term", "search"]),
                self.pick(["query", "word", "label", "person"]),
                None,
                True,
                None,
                "query",
                ["Search text", "What to look for", "Keyword", "Search query"],
            )
        na = (
            self.pick([1, 1, 2, 2, 3, 4])
            if ty == "C"
            else self.pick([1, 1, 2, 2])
            if ty == "U"
            else self.pick([0, 0, 0, 1, 2])
            if ty == "I"
            else self.pick([0, 1, 1, 2])
        )
        for a in range(na):
            z = self.rng.random()
            if z < 0.13 and not nonsense:
                w = self.pick(self.all_nouns) if self.chance(0.6) else self.pick(self.nouns)
                w = plural(w)
                key = self.pick([w, w, w, "num_" + w, w[:-1] + "_count", "number_of_" + w])
                add(
                    key,
                    "int",
                    (1, self.pick([12, 99, 999, 30000])),
                    self.chance(0.7) if ty != "L" else self.chance(0.2),
                    ["{v} {w}", "with {v} {w}", "for {v} {w}", "{v} {w}", "of {v} {w}", "using {v} {w}"],
                    w,
                    ["Number of " + w, "How many " + w, w.capitalize()],
                )
                continue
            if z < 0.25 and not nonsense:
                w, (u, ul) = self.pick(DIMENSIONS), self.pick(DIMENSION_UNITS)
                key = self.pick([w + "_" + u, w + "_" + u, w, u if len(u) > 2 else w, w + "_in_" + u])
                add(
                    key,
                    self.pick(["float", "int"]),
                    (1, self.pick([50, 400, 5000])),
                    self.chance(0.6) if ty != "L" else self.chance(0.2),
                    [
                        "with a {w} of {v} " + u,
                        "{w} {v} " + ul,
                        "at {v} " + ul,
                        "{v} " + ul,
                        "{v} " + u + " {w}",
                        "to {v} " + ul,
                        "to a {w} of {v} " + ul,
                        "with {w} {v} " + u,
                        "by {v} " + ul,
                        "for {v} " + ul,
                    ],
                    w,
                    [
                        w.capitalize() + " in " + u,
                        "The " + w + " in " + ul,
                        w.capitalize(),
                        ul.capitalize() + " of " + w,
                    ],
                )
                continue
            if z < 0.4 and not nonsense:
                w = self.pick(self.all_nouns) if self.chance(0.5) else self.pick(self.nouns)
                kd = self.pick(ROLE_KINDS)
                key = self.pick([w, w, w, w + "_name", w + "_id", w + "_" + self.pick(["code", "title", "label"])])
                add(
                    key,
                    kd,
                    None,
                    self.chance(0.75) if ty != "L" else self.chance(0.25),
                    [
                        "the {w} {v}",
                        "{w} {v}",
                        "for {w} {v}",
                        "for the {w} {v}",
                        "with {w} {v}",
                        "{v} as {w}",
                        "in {w} {v}",
                        "on {w} {v}",
                        "by {w} {v}",
                        "with the {w} {v}",
                        "from {w} {v}",
                        "to the {w} {v}",
                        "at the {w} {v}",
                        "of {w} {v}",
                        "for {v}",
                        "at {v}",
                        "with {v}",
                    ]
                    if a == 0
                    else [
                        "the {w} {v}",
                        "{w} {v}",
                        "for {w} {v}",
                        "for the {w} {v}",
                        "with {w} {v}",
                        "{v} as {w}",
                        "in {w} {v}",
                        "on {w} {v}",
                        "by {w} {v}",
                        "with the {w} {v}",
                        "from {w} {v}",
                        "to the {w} {v}",
                        "at the {w} {v}",
                        "of {w} {v}",
                    ],
                    w,
                    ["The " + w, w.capitalize(), "Name of the " + w, "Which " + w, w.capitalize() + " of the " + noun],
                )
                continue
            if z < 0.46 and not nonsense and a == 0:
                p1, p2 = self.pick(PAIRS)
                kd = (
                    "int"
                    if p1 == "min"
                    else self.one_of("city|street|person|path|word|date|time|airport|code2|intid|num|isodate|title")
                )
                sfx = (
                    ""
                    if self.chance(0.55)
                    else "_"
                    + (self.pick(self.nouns) if kd not in ("date", "time", "isodate") else kd.replace("iso", ""))
                )
                rq = self.chance(0.8)
                x1 = add(
                    p1 + sfx,
                    kd,
                    (1, 99) if kd == "int" else None,
                    rq,
                    ["\x01"],
                    (p1 + sfx).replace("_", " "),
                    [
                        p1.capitalize() + sfx.replace("_", " "),
                        "Where it starts" if not sfx else "The " + p1 + sfx.replace("_", " "),
                    ],
                )
                x2 = add(
                    p2 + sfx,
                    kd,
                    (100, 999) if kd == "int" else None,
                    rq,
                    ["\x02"],
                    (p2 + sfx).replace("_", " "),
                    [
                        p2.capitalize() + sfx.replace("_", " "),
                        "Where it ends" if not sfx else "The " + p2 + sfx.replace("_", " "),
                    ],
                )
                if x1 is None or x2 is None:
                    meta.update({x.key: ([], meta[x.key][1]) for x in (x1, x2) if x is not None})
                continue
            if (nonsense and self.chance(0.6)) or self.chance(0.12):
                w = self.nonsense() if self.chance(0.6) else self.pick(WORDS)
                kind, arg = self.pick(
                    [
                        ("int", (1, 999)),
                        ("num", None),
                        ("word", None),
                        ("text", None),
                        ("title", None),
                        ("rand", None),
                        ("float", None),
                        ("bool", [TRUE_PHRASES, FALSE_PHRASES]),
                        ("words", None),
                        ("enum", [(x, []) for x in dict.fromkeys(self.word() for _ in range(self.between(2, 4)))]),
                        ("code", None),
                        ("person", None),
                    ]
                )
                nmz, ph = [w], []
                if kind == "enum":
                    nmz = [self.pick([w, w, "type", "kind", "style", "mode", "class", "level", "method", "variant"])]
            else:
                nmz, (kind, arg), ph = self.pick(ATTRIBUTES)
                if kind == "bool" and self.chance(0.3):
                    arg, ph = [TRUE_PHRASES, FALSE_PHRASES], ["{v}"]
            key = self.pick(nmz)
            if kind == "obj":
                if key in OBJECTS:
                    arg = OBJECTS[key]
                else:
                    arg = [
                        (x, self.pick(["word", "int", "person", "num", "word"]))
                        for x in self.rng.sample(
                            ["status", "owner", "color", "level", "group", "limit", "mode", "zone", "depth", "brand"],
                            self.between(1, 2),
                        )
                    ]
            ws = " ".join(snake_words(key))
            if self.chance(0.12) and kind != "bool":
                key = nw[-1] + "_" + key
                ph = []
            rq = (
                self.chance(0.75)
                if ty == "C"
                else (self.chance(0.8) if a == 0 else self.chance(0.4))
                if ty == "U"
                else self.chance(0.35)
                if ty == "I"
                else self.chance(0.15)
            )
            ds = [
                x.replace("{w}", ws).replace("{W}", ws.capitalize()).replace("{n}", noun)
                for x in (self.pick(DESCRIPTIONS), self.pick(DESCRIPTIONS))
            ]
            if len(nmz) > 1 and self.chance(0.3):
                w2 = " ".join(snake_words(self.pick(nmz)))
                ds = ["The " + w2, w2.capitalize() + " of the " + noun]
            add(key, kind, arg, rq, ph, ws if key == ws or "_" not in key else " ".join(snake_words(key)), ds)
        if self.chance(0.1):
            self.rng.shuffle(ps)
        t = Tool()
        t.name, t.params, t.domain, t.spec = name, ps, "crud:" + noun, None
        if self.chance(st["desc"]):
            d = with_article(self.pick(descs), noun).replace("{ns}", ns).replace("{n}", noun)
            if self.chance(0.12):
                d += self.pick(
                    [
                        " in the system",
                        " for the current user",
                        " by its " + (meta[idp.key][1] if idp else "name"),
                        " from the database",
                        " on the server",
                        " of the team",
                    ]
                )
            t.desc = self.finish_desc(d, ps, st)
        else:
            t.desc = None
        t.schema = self.build(name, t.desc, ps, st)
        t.words = base
        plan = CrudPlan(noun, reqs, ps, meta, idp, idf, qp)
        t.request = lambda: self.crud_request(plan)
        t.result = lambda _: self.any_result()
        return t
