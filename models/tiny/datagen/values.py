"""Values of everyday kinds, made up: names, places, dates, paths, numbers."""

from __future__ import annotations

import json

from datagen.lists import (
    CITIES,
    COUNTRIES,
    EXTENSIONS,
    FIRST_NAMES,
    FOREIGN,
    LAST_NAMES,
    LONG_CITIES,
    MESSAGES,
    MONTHS,
    NUMBER_WORDS,
    SYLLABLES,
    TLDS,
    WEEKDAYS,
    WORDS,
    split,
)

ACCENTED = "àáâãäåæçèéêëìíïñòóôöøúüßćčęěğıłńőřşšůżž"
SCRIPTS = [(0x0430, 0x044F), (0x03B1, 0x03C9), (0x4E00, 0x9FA5), (0x3041, 0x3093), (0x30A1, 0x30F3), (0xAC00, 0xD7A3)]
SCRIPTS += [(0x05D0, 0x05EA), (0x0627, 0x064A), (0x1F300, 0x1F64F)]
"""First and last letters: Cyrillic, Greek, Chinese, both Japanese, Korean, Hebrew, Arabic, and pictures."""


class Values:
    """Each method makes up one value; all chance comes from `rng`."""

    def __init__(self, rng):
        self.rng = rng

    def one_of(self, alternatives):
        return self.pick(split(alternatives))

    def pick(self, seq):
        return seq[int(self.rng.random() * len(seq))]

    def chance(self, x):
        return self.rng.random() < x

    def between(self, lo, hi):
        return lo + int(self.rng.random() * (hi - lo + 1))

    def nonsense(self):
        w = "".join(self.pick(SYLLABLES) for _ in range(self.between(1, 3)))
        return w if len(w) > 2 else w + self.pick(SYLLABLES)

    def word(self):
        return self.pick(WORDS) if self.rng.random() < 0.85 else self.nonsense()

    def foreign(self):
        """A word or name beyond ASCII, real or made up."""
        if self.chance(0.5):
            return self.pick(FOREIGN)
        k = self.rng.random()
        if k < 0.5:
            first, *rest = self.nonsense()
            return first.upper() + "".join(self.pick(ACCENTED) if self.chance(0.3) else letter for letter in rest)
        start, end = self.pick(SCRIPTS)
        return "".join(chr(self.between(start, end)) for _ in range(self.between(1, 7)))

    def gibberish(self):
        k = self.between(0, 5)
        al = "abcdefghijklmnopqrstuvwxyz"
        dg = "0123456789"
        if k == 0:
            return "".join(self.pick(al) for _ in range(self.between(3, 9)))
        if k == 1:
            return "".join(self.pick(al + dg) for _ in range(self.between(4, 10)))
        if k == 2:
            return "".join(self.pick("0123456789abcdef") for _ in range(self.between(6, 12)))
        if k == 3:
            return (
                "".join(self.pick(al.upper()) for _ in range(self.between(2, 4)))
                + self.pick(["-", "", "_"])
                + str(self.between(1, 99999))
            )
        if k == 4:
            return self.word() + self.pick(["-", "_", ".", ""]) + str(self.between(1, 999))
        return self.word() + self.pick(["-", "_", "."]) + self.word()

    def ident(self):
        return self.pick(["_", "_", "-", "", "."]).join(self.word() for _ in range(self.between(1, 3)))

    def person(self):
        if self.chance(0.03):
            return self.foreign()
        k = self.rng.random()
        if k < 0.4:
            return self.pick(FIRST_NAMES)
        if k < 0.9:
            return self.pick(FIRST_NAMES) + " " + self.pick(LAST_NAMES)
        if k < 0.95:
            return self.pick(FIRST_NAMES).lower()
        return self.pick(["Dr. ", "Mr. ", "Mrs. ", "Ms. ", "Aunt ", "Uncle "]) + self.pick(LAST_NAMES)

    def city(self):
        if self.chance(0.03):
            return self.foreign()
        k = self.rng.random()
        if k < 0.4:
            return self.pick(CITIES)
        if k < 0.6:
            return self.pick(LONG_CITIES)
        if k < 0.66:
            return self.pick(CITIES).lower()
        if k < 0.75:
            return self.pick(CITIES) + ", " + self.pick(COUNTRIES)
        if k < 0.88:
            return (
                self.one_of("North |South |East |West |New |Lake |Port |")
                + self.pick(LAST_NAMES)
                + self.one_of("ville|town|burgh|ford|port|shire|berg|stad")
            )
        return self.nonsense().capitalize()

    def title(self):
        if self.chance(0.03):
            return self.foreign()
        n = self.between(1, 4)
        ws = [self.word() for _ in range(n)]
        k = self.rng.random()
        if k < 0.5:
            return " ".join(x.capitalize() for x in ws)
        if k < 0.7:
            return "The " + " ".join(x.capitalize() for x in ws)
        if k < 0.85:
            return " ".join(ws)
        if k < 0.93:
            return " ".join(ws).capitalize()
        return self.pick(WORDS).capitalize() + " of the " + self.word().capitalize()

    def fill(self, t):
        if "{" not in t:
            return t
        r = t
        if "{n}" in r:
            r = r.replace("{n}", str(self.between(1, 60)))
        if "{n2}" in r:
            r = r.replace("{n2}", str(self.between(1, 900)))
        if "{w}" in r:
            r = r.replace("{w}", self.word())
        if "{w2}" in r:
            r = r.replace("{w2}", self.word())
        if "{p}" in r:
            r = r.replace("{p}", self.person())
        if "{c}" in r:
            r = r.replace("{c}", self.pick(CITIES))
        if "{t}" in r:
            r = r.replace("{t}", self.time())
        if "{d}" in r:
            r = r.replace("{d}", self.pick(WEEKDAYS))
        if "{u}" in r:
            r = r.replace("{u}", self.url())
        return r

    def text(self):
        if self.chance(0.03):
            return self.foreign()
        k = self.rng.random()
        if k < 0.45:
            return self.fill(self.pick(MESSAGES))
        if k < 0.55:
            s = self.fill(self.pick(MESSAGES))
            return s[0].upper() + s[1:] + self.pick([".", "!", ""])
        if k < 0.9:
            return " ".join(self.word() for _ in range(self.between(1, 9)))
        if k < 0.95:
            return self.gibberish()
        return self.fill(self.pick(MESSAGES)) + self.pick([", ", " and ", ". "]) + self.fill(self.pick(MESSAGES))

    def sentence(self):
        a = self.one_of(
            "The {w} is {w2}|A {w} was found near {c}|{p} likes the {w}|There are {n} kinds of {w}|"
            "The {w} opened in {n2}|{c} is known for its {w}|The first {w} was made by {p}|"
            "Most {w} need {n} hours of {w2}|{p} wrote about {w} and {w2}|Line {n}: {w} {w2}|"
            "{w} {w2}|The {w} {w2} took {n} minutes"
        )
        return self.fill(a) + self.pick([".", ".", ""])

    def time(self):
        k = self.between(0, 3)
        if k == 0:
            return "%d:%02d" % (self.between(0, 23), self.between(0, 59))
        if k == 1:
            return "%d %s" % (self.between(1, 12), self.pick(["am", "pm"]))
        if k == 2:
            return "%d%s" % (self.between(1, 12), self.pick(["am", "pm"]))
        return "%d:%02d %s" % (self.between(1, 12), self.pick([0, 15, 30, 45]), self.pick(["am", "pm", "PM", "AM"]))

    def isodate(self):
        return "%d-%02d-%02d" % (self.between(1990, 2032), self.between(1, 12), self.between(1, 28))

    def date(self):
        k = self.rng.random()
        if k < 0.35:
            return self.isodate()
        if k < 0.6:
            return self.pick(MONTHS) + " " + str(self.between(1, 28))
        if k < 0.8:
            return self.pick(WEEKDAYS)
        if k < 0.9:
            return "next " + self.pick(WEEKDAYS)
        return "%d %s %d" % (self.between(1, 28), self.pick(MONTHS), self.between(2020, 2030))

    def path(self):
        k = self.rng.random()
        name = (
            self.pick(
                [
                    self.word(),
                    self.word() + "_" + self.word(),
                    self.word() + "-" + str(self.between(1, 99)),
                    self.gibberish(),
                ]
            )
            + "."
            + self.pick(EXTENSIONS)
        )
        if self.chance(0.08):
            name = self.one_of(
                "README.md|Makefile|Dockerfile|notes.txt|main.py|config.json|todo.txt|pyproject.toml|data.csv"
            )
        if k < 0.4:
            return name
        return self.dir().rstrip("/") + "/" + name

    def dir(self):
        k = self.rng.random()
        base = self.pick(
            [
                "/tmp",
                "/var/log",
                "/etc",
                "/home/" + self.pick(FIRST_NAMES).lower(),
                "src",
                "docs",
                ".",
                "~",
                "./" + self.word(),
                "/" + self.word(),
                self.word(),
                "tests",
                "/data",
                "C:/Users/" + self.pick(FIRST_NAMES),
            ]
        )
        if k < 0.5:
            return base
        return base + "/" + self.word() + self.pick(["", "", "/", "/" + self.word()])

    def host(self):
        if self.chance(0.2):
            return self.ip()
        return (
            self.pick(["", "", "www.", "api.", "db."])
            + self.word()
            + self.pick(["", "-" + self.word(), str(self.between(1, 99))])
            + "."
            + self.pick(TLDS)
        )

    def ip(self):
        return "%d.%d.%d.%d" % (self.between(1, 254), self.between(0, 255), self.between(0, 255), self.between(1, 254))

    def url(self):
        u = self.pick(["https://", "https://", "http://"]) + self.host()
        if self.chance(0.6):
            u += "/" + self.word()
            if self.chance(0.4):
                u += "/" + self.pick(
                    [self.word(), str(self.between(1, 9999)), self.word() + ".html", self.word() + "?q=" + self.word()]
                )
        return u

    def email(self):
        a = self.pick(
            [
                self.pick(FIRST_NAMES).lower(),
                self.pick(FIRST_NAMES).lower() + "." + self.pick(LAST_NAMES).lower(),
                self.word(),
                self.pick(FIRST_NAMES).lower() + str(self.between(1, 99)),
            ]
        )
        return (
            a
            + "@"
            + self.pick(
                ["example.com", "gmail.com", self.word() + "." + self.pick(TLDS), self.word() + "." + self.pick(TLDS)]
            )
        )

    def money(self):
        return self.between(1, 900) if self.chance(0.6) else self.decimal(self.between(1, 90000), 100)

    def decimal(self, n, d):
        v = n / d
        return int(v) if v == int(v) else round(v, 4)

    def number(self, integer=False):
        k = self.rng.random()
        if integer or k < 0.6:
            v = self.between(0, 99) if self.chance(0.6) else self.between(0, self.pick([999, 9999, 99999, 1000000]))
        else:
            v = self.decimal(self.between(1, 99999), self.pick([10, 100, 1000]))
        if self.chance(0.08):
            v = -v
        return v

    def number_text(self, v, words=True):
        if isinstance(v, int):
            if words and 1 <= v <= 12 and self.chance(0.1):
                return NUMBER_WORDS[v]
            if v >= 1000 and self.chance(0.06):
                return f"{v:,}"
        return json.dumps(v)

    def code(self):
        k = self.between(0, 5)
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
        if k == 0:
            return "".join(self.pick(letters) for _ in range(self.between(2, 4))) + "-" + str(self.between(10, 99999))
        if k == 1:
            return "".join(self.pick(letters) for _ in range(2)) + str(self.between(10, 9999))
        if k == 2:
            return (
                str(self.between(1000, 999999))
                if self.chance(0.5)
                else "".join(self.pick(letters + "0123456789") for _ in range(self.between(5, 8)))
            )
        if k == 3:
            return self.pick(WORDS) + "-" + str(self.between(1, 999))
        if k == 4:
            return "#" + str(self.between(10, 99999))
        return self.pick(letters) + str(self.between(1, 99)) + "-" + self.pick(letters) + self.pick(letters)

    def hash(self):
        return "".join(self.pick("0123456789abcdef") for _ in range(self.between(7, 16)))

    def enumerated(self, xs):
        xs = [str(x) for x in xs]
        k = self.rng.random()
        if len(xs) == 1:
            return xs[0]
        if k < 0.6:
            return ", ".join(xs[:-1]) + " and " + xs[-1]
        if k < 0.9:
            return ", ".join(xs)
        return " and ".join(xs)
