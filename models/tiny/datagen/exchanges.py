"""One exchange: a question, perhaps calls and their results, an answer."""

from __future__ import annotations

import json

from datagen.chains import Chains
from datagen.lists import JOBS, NO_TOOL, OPEN_QUESTIONS, SMALL_TALK, dumps
from datagen.specs import snake_words


class Exchanges(Chains):
    """Exchanges of all kinds, appended to a conversation."""

    def add_results(self, msgs, flags, ts, argss):
        outs = []
        for t, a in zip(ts, argss, strict=True):
            if self.chance(0.12):
                res, _ = self.error_result()
            else:
                res = t.result(a)
            outs.append(res)
            msgs.append({"role": "tool", "content": res})
        msgs.append({"role": "assistant", "content": " ".join(self.answer(o) for o in outs)})
        flags.append(1)
        return outs

    def uncapitalised(self, s):
        return s[0].lower() + s[1:] if len(s) > 1 and s[1].islower() and s not in self.starts_with_value else s

    def joined(self, a, b):
        a = a.rstrip("?.!")
        k = self.rng.random()
        if k < 0.4:
            return a + " and " + self.uncapitalised(b)
        if k < 0.55:
            return a + ", and " + self.uncapitalised(b)
        if k < 0.7:
            return (
                a
                + self.pick([". ", "? ", "; "])
                + self.pick(["Also ", "And ", "Then ", "also ", "Also, "])
                + self.uncapitalised(b)
            )
        if k < 0.8:
            return a + ". " + b
        if k < 0.9:
            return "1. " + a + "\n2. " + b
        return a + " and also " + self.uncapitalised(b)

    def exchange(self, msgs, flags, tools, all_st):
        """Append one user exchange. Returns False if nothing could be added."""
        k = self.rng.random()
        if not tools or k < (0.3 if self.own_name else 0.05):
            return self.add_small(msgs, flags, tools)
        if k < 0.08 and self.add_recall(msgs, flags):
            return True
        if k < 0.63:
            t = self.pick(tools)
            r = self.request_for(t)
            if not r:
                return False
            msgs.append({"role": "user", "content": r[0]})
            msgs.append({"role": "assistant", "content": "", "tool_calls": [self.call(t, r[1])]})
            flags.append(1)
            if self.chance(0.75):
                self.add_results(msgs, flags, [t], [r[1]])
            else:
                return "end"
            return True
        if k < 0.82:
            return self.add_parallel(msgs, flags, tools)
        if k < 0.9:
            return self.add_chain(msgs, flags, tools)
        return self.add_nofit(msgs, flags, tools, all_st)

    def add_parallel(self, msgs, flags, tools):
        n = 3 if self.chance(0.12) else 2
        if self.chance(0.3):
            # one tool, several values
            t = self.pick(tools)
            one = [p for p in t.params if p.required]
            if (
                t.spec is not None
                and len(one) == 1
                and isinstance(one[0].kind, str)
                and one[0].kind
                in (
                    "city",
                    "person",
                    "path",
                    "country",
                    "intid",
                    "word",
                    "host",
                    "thing",
                    "url",
                    "service",
                    "code",
                    "room",
                    "title",
                    "dir",
                    "airport",
                )
            ):
                r = t.request()
                if r is None:
                    return False
                v0 = r[1][one[0].key]
                if len(r[1]) == 1 and r[0].count(str(v0)) == 1:
                    vs = [v0] + [self.make(one[0].kind, one[0].arg)[0] for _ in range(n - 1)]
                    if len(set(map(str, vs))) == n:
                        txt = r[0].replace(
                            str(v0), self.enumerated(vs) if self.chance(0.8) else " and ".join(map(str, vs))
                        )
                        msgs.append({"role": "user", "content": txt})
                        argss = [{one[0].key: v} for v in vs]
                        return self.add_calls(msgs, flags, [t] * n, argss)
        ts = [self.pick(tools) for _ in range(n)] if self.chance(0.25) or len(tools) < n else self.rng.sample(tools, n)
        rs = [self.request_for(t) for t in ts]
        if any(r is None for r in rs):
            return False
        if len({dumps([t.name, r[1]]) for t, r in zip(ts, rs, strict=True)}) < n:
            return False
        txt = rs[0][0]
        for r in rs[1:]:
            txt = self.joined(txt, r[0])
        msgs.append({"role": "user", "content": txt})
        return self.add_calls(msgs, flags, ts, [r[1] for r in rs])

    def add_calls(self, msgs, flags, ts, argss):
        if self.chance(0.18):
            # the engine allowed one call a turn: calls come one by one
            outs = []
            for i, (t, a) in enumerate(zip(ts, argss, strict=True)):
                msgs.append({"role": "assistant", "content": "", "tool_calls": [self.call(t, a)]})
                flags.append(0 if i < len(ts) - 1 else 1)
                if i:
                    flags[-1] = 1 if i == len(ts) - 1 else 2
                res = t.result(a)
                outs.append(res)
                msgs.append({"role": "tool", "content": res})
            msgs.append({"role": "assistant", "content": " ".join(self.answer(o) for o in outs)})
            flags.append(1)
            return True
        msgs.append(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [self.call(t, a) for t, a in zip(ts, argss, strict=True)],
            }
        )
        flags.append(1)
        if self.chance(0.6):
            self.add_results(msgs, flags, ts, argss)
            return True
        return "end"

    def add_small(self, msgs, flags, tools):
        if self.chance(0.75):
            q, a = self.pick(SMALL_TALK)
            q, a = self.pick(q), self.pick(a)
            if self.own_name and a.startswith("I am a tiny assistant"):
                a = f"I am {self.own_name}."
            k = self.rng.random()
            if k < 0.3:
                q = q[0].upper() + q[1:]
            if k > 0.85 and not q.endswith(("?", "!", ".")):
                q += self.pick(["!", ".", "!!", " :)"])
            if self.chance(0.06):
                n = self.person()
                q, a = (
                    self.one_of("my name is {}|I am {}|I'm {}|hi, I'm {}|hello, my name is {}|call me {}").format(n),
                    f"Nice to meet you, {n}!",
                )
            elif self.own_name and self.chance(0.6):
                q = self.one_of(
                    "who are you?|what is your name?|what's your name?|introduce yourself|tell me about yourself|"
                    "hi, who are you?|how are you called?|and you are?|do you have a name?"
                )
                q, a = q[0].upper() + q[1:] if self.chance(0.6) else q, f"I am {self.own_name}."
            elif self.chance(0.06) and not any({"echo", "say", "repeat", "speak"} & set(t.words) for t in tools):
                a = self.pick([self.word, self.nonsense, self.gibberish, self.foreign, self.person])()
                q = self.one_of(
                    "say {}|repeat {}|just say {}|repeat after me: {}|repeat the word {}|say this: {}|"
                    "answer with {}|Write {}|answer with the word {}|print the word {}|say only {}"
                ).format(self.quote(a, True))
        elif not tools and self.chance(0.6):
            s = self.spec_tool(self.pick(self.specs), self.tool_style())
            r = s.request()
            if not r:
                return False
            q, a = r[0], NO_TOOL
        else:
            q = self.pick(OPEN_QUESTIONS).replace("{t}", self.title()).replace("{job}", self.pick(JOBS))
            q, a = self.fill(q), NO_TOOL
            if self.chance(0.6):
                q = q[0].upper() + q[1:]
        msgs.append({"role": "user", "content": q})
        msgs.append({"role": "assistant", "content": a})
        flags.append(1)
        return True

    def add_recall(self, msgs, flags):
        """A question that an earlier result has the answer to."""
        said = next((m["content"] for m in reversed(msgs) if m["role"] == "tool"), "")
        try:
            result = json.loads(said)
        except ValueError:
            return False
        if not isinstance(result, dict) or len(result) < 2 or "error" in result.values() or "error" in result:
            return False
        key = self.pick(list(result))
        words = " ".join(word for word in snake_words(key) if word)
        asked = self.one_of(
            "what is its %s?|what was the %s again?|and the %s?|which %s did it have?|tell me the %s again|"
            "what's its %s?|what %s did you find?|remind me of the %s|can you repeat the %s?|what %s was that?|"
            "so what is the %s?|which %s is it?"
        )
        asked = asked % words
        msgs.append({"role": "user", "content": asked[0].upper() + asked[1:] if self.chance(0.6) else asked})
        msgs.append({"role": "assistant", "content": f"The {words} is {self.plain(result[key])}."})
        flags.append(1)
        return True

    def add_nofit(self, msgs, flags, tools, all_st):
        """A request whose tool is missing."""
        doms = {t.domain for t in tools}
        for _ in range(12):
            ts = self.toolset(1, all_st)
            if ts and ts[0].domain not in doms:
                break
        else:
            return False
        if self.chance(0.2):
            return self.add_small(msgs, flags, tools)
        r = ts[0].request()
        if not r:
            return False
        msgs.append({"role": "user", "content": r[0]})
        msgs.append({"role": "assistant", "content": NO_TOOL})
        flags.append(1)
        return True
