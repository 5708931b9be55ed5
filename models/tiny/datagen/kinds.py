"""A value of a kind that a domain file names, and how a request would say it."""

from __future__ import annotations

import json

from datagen.arithmetic import Arithmetic
from datagen.lists import (
    COLORS,
    COMMANDS,
    CONDITIONS,
    COUNTRIES,
    CURRENCIES,
    JOBS,
    LANGUAGES,
    LAST_NAMES,
    PLACES,
    PYTHON,
    ROOMS,
    SERVICES,
    SQL,
    STREETS,
    TASKS,
    THINGS,
    TIME_ZONES,
    TOPICS,
    UNITS,
    WEEKDAYS,
)


class Kinds(Arithmetic):
    """`make(kind)` gives a value and its text; `k_KIND` makes those that need nothing else."""

    def make(self, kind, arg=None):
        """(value, surface) for a kind."""
        r = self
        if kind == "int":
            v = r.between(*arg)
            return v, r.number_text(v)
        if kind == "enum":
            v, alias = r.pick(arg)
            s = (
                r.pick(alias)
                if alias and r.chance(0.7)
                else (v if r.chance(0.75) else v.replace("_", " ").replace("-", " "))
            )
            return v, s
        if kind == "bool":
            v = r.chance(0.6)
            return v, r.pick(arg[0] if v else arg[1])
        if kind == "num":
            v = r.number(arg == "integer")
            return v, r.number_text(v, False)
        if kind == "float":
            v = r.decimal(r.between(1, 9999), r.pick([10, 100]))
            return v, json.dumps(v)
        if kind in ("money", "price"):
            v = r.money()
            return v, ("$" if r.chance(0.1) else "") + r.number_text(v, False)
        if kind == "nums":
            v = [r.number(arg == "integer") for _ in range(r.between(2, 5))]
            return v, r.enumerated([json.dumps(x) for x in v])
        if kind == "intid":
            v = r.between(1, r.pick([99, 9999, 999999]))
            return v, str(v)
        if kind in ("lat", "lng"):
            v = r.decimal(r.between(-8999, 8999), 100)
            return v, json.dumps(v)
        if kind == "sum":
            return r.said_sum()
        if kind == "order":
            return r.ordered_sum()
        if kind == "expr":
            a = [json.dumps(r.number()) for _ in range(r.between(2, 4))]
            s = a[0]
            for x in a[1:]:
                s += " " + r.pick("+-*/") + " " + x
            if r.chance(0.2):
                s = "(" + s + ") " + r.pick("*/-+") + " " + str(r.between(2, 99))
            if r.chance(0.2):
                s = s.replace(" ", "")
            return s, s
        if kind == "when":
            k = r.between(0, 4)
            if k == 0:
                v = r.time()
                return v, "at " + v
            if k == 1:
                v = r.one_of("tomorrow|tonight|tomorrow morning|this evening|next week|at noon")
                return v, v
            if k == 2:
                v = r.pick(WEEKDAYS)
                return v, "on " + v
            if k == 3:
                v = "in %d %s" % (r.between(2, 59), r.pick(["minutes", "hours", "days"]))
                return v, v
            v = r.isodate()
            return v, "on " + v
        if kind == "persons":
            v = [r.person() for _ in range(r.between(1, 3))]
            return v, r.enumerated(v)
        if kind == "words":
            v = [r.word() for _ in range(r.between(2, 4))]
            return v, r.enumerated(v)
        if kind == "things":
            v = r.rng.sample(THINGS, r.between(1, 4)) if r.chance(0.7) else [r.word() for _ in range(r.between(2, 4))]
            return v, r.enumerated(v)
        f = getattr(r, "k_" + kind, None)
        if f is None:
            f = getattr(r, kind)
        v = f()
        return v, str(v)

    def k_rand(self):
        return self.gibberish()

    def k_sent(self):
        return self.sentence()

    def k_query(self):
        return self.fill(self.pick(TOPICS))

    def k_task(self):
        return self.fill(self.pick(TASKS))

    def k_word(self):
        return self.word() if self.chance(0.85) else self.gibberish()

    def k_wordy(self):
        k = self.rng.random()
        return self.word() if k < 0.3 else self.gibberish() if k < 0.5 else self.text() if k < 0.8 else self.title()

    def k_thing(self):
        return self.pick(THINGS) if self.chance(0.6) else self.word()

    def k_label(self):
        return self.word() if self.chance(0.6) else self.word() + " " + self.word()

    def k_tz(self):
        return self.pick(TIME_ZONES) if self.chance(0.4) else self.city()

    def k_cur(self):
        return self.one_of("USD|EUR|GBP|JPY|CHF|CAD|AUD") if self.chance(0.5) else self.pick(CURRENCIES)

    def k_unit(self):
        return self.pick(UNITS)

    def k_lang(self):
        return self.pick(LANGUAGES)

    def k_room(self):
        return self.pick(ROOMS)

    def k_door(self):
        return self.pick(
            [
                "front door",
                "back door",
                "garage door",
                "cellar door",
                "side door",
                "balcony door",
                self.word() + " door",
            ]
        )

    def k_cmd(self):
        return self.fill(self.pick(COMMANDS).replace("{p}", self.path()).replace("{d}", self.dir()))

    def k_pycode(self):
        return self.fill(self.pick(PYTHON))

    def k_sql(self):
        return self.fill(self.pick(SQL))

    def k_id(self):
        return self.code()

    def k_code2(self):
        return self.pick("ABCDEFGHKLMNPRST") + str(self.between(1, 99))

    def k_branch(self):
        return self.pick(
            [
                "main",
                "develop",
                "master",
                "feature/" + self.word(),
                "fix-" + self.word(),
                self.word() + "-" + self.word(),
                "release/" + str(self.between(1, 9)) + "." + str(self.between(0, 9)),
                self.word(),
            ]
        )

    def k_repo(self):
        return self.word() + "/" + self.word() if self.chance(0.6) else self.word()

    def k_channel(self):
        return self.pick(["#", "#", ""]) + self.pick(
            [self.word(), self.word() + "-" + self.word(), "general", "random", "dev", "ops"]
        )

    def k_service(self):
        return self.pick(SERVICES) if self.chance(0.6) else self.word() + self.pick(["", "-service", "-api", "d"])

    def k_envvar(self):
        return self.pick(
            ["PATH", "HOME", "USER", "LANG", self.word().upper(), self.word().upper() + "_" + self.word().upper()]
        )

    def k_country(self):
        return self.pick(COUNTRIES)

    def k_placekind(self):
        return self.pick(PLACES)

    def k_account(self):
        return self.pick(["savings", "checking", "business", "joint", "credit card", "travel", self.word()])

    def k_airport(self):
        return "".join(self.pick("ABCDEFGHIJKLMNOPRSTUVWXYZ") for _ in range(self.between(3, 4)))

    def k_company(self):
        return self.pick(
            [
                self.pick(LAST_NAMES) + " " + self.pick(["Inc", "Ltd", "Group", "and Sons", "Labs"]),
                self.word().capitalize() + " " + self.word().capitalize(),
                self.pick(LAST_NAMES) + "-" + self.pick(LAST_NAMES),
                self.word().capitalize() + self.pick(["ify", "ly", "tech", "soft"]),
            ]
        )

    def k_street(self):
        return (
            str(self.between(1, 400))
            + " "
            + self.pick([self.pick(LAST_NAMES), self.word().capitalize()])
            + " "
            + self.pick(STREETS)
            if self.chance(0.6)
            else self.pick([self.pick(LAST_NAMES), self.word().capitalize()]) + " " + self.pick(STREETS)
        )

    def k_phone(self):
        return self.pick(["+1 %d %d", "%d-%d", "0%d %d"]) % (self.between(200, 999), self.between(10000, 9999999))

    def k_color(self):
        return self.pick(COLORS)

    def k_job(self):
        return self.pick(JOBS)

    # result-only kinds
    def k_temp(self):
        return self.between(-15, 42)

    def k_pct(self):
        return self.between(0, 100)

    def k_cond(self):
        return self.pick(CONDITIONS)

    def k_small(self):
        return self.between(0, 30)

    def k_age(self):
        return self.between(8, 95)

    def k_bigint(self):
        return self.between(1000, self.pick([99999, 9999999, 999999999]))

    def k_httpcode(self):
        return self.pick([200, 200, 201, 204, 301, 404, 500])

    def k_weekday(self):
        return self.pick(WEEKDAYS)

    def k_coin(self):
        return self.pick(["heads", "tails"])

    def k_ostatus(self):
        return self.one_of("shipped|delivered|pending|cancelled|processing|delayed|returned|out for delivery")
