"""Evaluates a GGUF file through the real llama.cpp (pip install xllamacpp), at temperature 0, on one thread.

    python models/tiny/eval.py src/callgate/data/tiny.gguf [--n 100] [--show 4] [--tokens]

All tools here are held out: domains_heldout.txt, held-out nouns, and nonsense words from other seeds; none of their
names occurs in training. `--tokens` also compares tokenizer.json with llama.cpp's tokens of every prompt (pip install
tokenizers).
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import reduce

from cases import QUESTIONS, Cases, calls_of, is_quoted, openai_calls
from engine import Engine

from datagen import HERE, JOBS, OPEN_QUESTIONS, SMALL_TALK, dumps, emulated, render


class Tally:
    """How many of each kind were right, with a few of the others shown."""

    def __init__(self, show):
        self._show = show
        self.counts = {}

    def add(self, kind, right, *details):
        count = self.counts.setdefault(kind, [0, 0, 0])
        count[0] += bool(right)
        count[1] += 1
        if details and not right and count[2] < self._show:
            count[2] += 1
            lines = (detail if isinstance(detail, str) else dumps(detail) for detail in details)
            print("MISS", kind, *(f"\n     {line}" for line in lines))

    def report(self):
        for kind, (right, of, _) in self.counts.items():
            print(f"{kind:32} {right:4} / {of:4}  {100 * right / of:5.1f} %")
        calls = [count for kind, count in self.counts.items() if kind.startswith("call/")]
        right, of = sum(count[0] for count in calls), sum(count[1] for count in calls)
        print(f"{'one call, all unseen tools':32} {right:4} / {of:4}  {100 * right / of:5.1f} %")


def one_call(cases, engine, tally, n):
    """One call among one to eight tools. Gives the prompts."""
    g, prompts = cases.generator, []
    for kind in ("domains", "nouns", "nonsense"):
        for i in range(n):
            tools = cases.tools(kind, g.between(1, 8))
            tool = g.pick(tools)
            asked, arguments = (g.explicit(tool) if i % 12 == 0 else None) or tool.request()
            messages = [*cases.system(), {"role": "user", "content": asked}]
            schemas = [each.schema for each in tools]
            prompts.append((messages, schemas))
            got = calls_of(engine.chat(messages, schemas))
            tally.add(f"call/{kind}", got == [(tool.name, arguments)], asked, tool.schema, got, arguments)
            tally.add(f"name/{kind}", [name for name, _ in got] == [tool.name])
    return prompts


def parallel_calls(cases, engine, tally, n):
    g = cases.generator
    for i in range(n + n // 4):
        count = 2 if i < n else 3
        tools = cases.tools(g.pick(["domains", "nouns"]), g.between(count, 6))
        chosen = g.rng.sample(tools, count)
        requests = [tool.request() for tool in chosen]
        asked = reduce(g.joined, (request for request, _ in requests))
        wanted = [(tool.name, arguments) for tool, (_, arguments) in zip(chosen, requests, strict=True)]
        messages = [*cases.system(), {"role": "user", "content": asked}]
        got = calls_of(engine.chat(messages, [tool.schema for tool in tools]))
        kind = f"{'two' if i < n else 'three'} calls at once"
        tally.add(kind, sorted(map(dumps, got)) == sorted(map(dumps, wanted)), asked, got, wanted)


def answers(cases, engine, tally, n):
    """Results are quoted, and errors reported."""
    g = cases.generator
    for i in range(n):
        tools = cases.tools(g.pick(["domains", "nouns"]), g.between(1, 5))
        tool = g.pick(tools)
        asked, arguments = tool.request()
        failed = i % 5 == 0
        result, why = g.error_result() if failed else (tool.result(arguments), "")
        messages = [*cases.system(), {"role": "user", "content": asked}, *exchanged(tool, arguments, result)]
        answer = engine.chat(messages, [each.schema for each in tools])
        text, calls = answer.get("content") or "", answer.get("tool_calls")
        if failed:
            tally.add("error reported", not calls and "fail" in text and why.rstrip(".") in text, result, text)
        else:
            tally.add("answer quotes result", not calls and is_quoted(result, text), result, text)
            tally.add("answer exact", text == g.answer(result))


def no_call(cases, engine, tally, n):
    g = cases.generator
    for i in range(n):
        tools = cases.tools(g.pick(["domains", "nouns", "nonsense"]), g.between(1, 6))
        kind = ("small talk", "no fitting tool", "open question", "unseen question")[i % 4]
        if kind == "small talk":
            asked = g.pick(g.pick(SMALL_TALK)[0])
        elif kind == "no fitting tool":
            domains = {tool.domain for tool in tools}
            while (other := cases.tools(g.pick(["domains", "nouns"]), 1)[0]).domain in domains:
                pass
            asked = other.request()[0]
        elif kind == "unseen question":
            asked = g.pick(QUESTIONS)
        else:
            asked = g.fill(g.pick(OPEN_QUESTIONS).replace("{t}", g.title()).replace("{job}", g.pick(JOBS)))
        messages = [*cases.system(), {"role": "user", "content": asked}]
        answer = engine.chat(messages, [tool.schema for tool in tools])
        right = not answer.get("tool_calls") and answer.get("content")
        tally.add(f"no call/{kind}", right, asked, [tool.name for tool in tools], calls_of(answer))
    for i in range(max(10, n // 5)):
        asked = g.pick(g.pick(SMALL_TALK)[0]) if i % 2 else g.pick(cases.tools("domains", 1)).request()[0]
        answer = engine.chat([{"role": "user", "content": asked}])
        content = answer.get("content") or ""
        tally.add(
            "no call/no tools", not answer.get("tool_calls") and content and "<tool" not in content, asked, answer
        )


def later_turns(cases, engine, tally, n):
    """The second question of a conversation, and the second step where calls come one by one."""
    g = cases.generator
    for _ in range(n // 2):
        tools = cases.tools(g.pick(["domains", "nouns"]), g.between(2, 5))
        first, second = g.rng.sample(tools, 2)
        (asked, arguments), (then_asked, then_arguments) = first.request(), second.request()
        result = first.result(arguments)
        schemas = [tool.schema for tool in tools]
        called = exchanged(first, arguments, result)
        answered = {"role": "assistant", "content": g.answer(result)}
        messages = [{"role": "user", "content": asked}, *called, answered, {"role": "user", "content": then_asked}]
        got = calls_of(engine.chat(messages, schemas))
        tally.add("second turn", got == [(second.name, then_arguments)], then_asked, got, then_arguments)
        both = g.joined(asked, then_asked)
        got = calls_of(engine.chat([{"role": "user", "content": both}, *called], schemas))
        tally.add("one by one, second step", got == [(second.name, then_arguments)], both, got, then_arguments)


def required_calls(cases, engine, tally, n):
    """The schema grammar forces a call."""
    g = cases.generator
    for _ in range(n // 4):
        tools = cases.tools("domains", g.between(1, 4))
        tool = g.pick(tools)
        asked, arguments = tool.request()
        schemas = [each.schema for each in tools]
        got = calls_of(engine.chat([{"role": "user", "content": asked}], schemas, tool_choice="required"))
        tally.add("tool_choice required", got == [(tool.name, arguments)], asked, got, arguments)


def forced_calls(cases, engine, tally, n):
    """A call that has to be made although no tool fits: one that is whole will do."""
    g = cases.generator
    for _ in range(n // 4):
        schemas = [tool.schema for tool in cases.tools("domains", g.between(1, 4))]
        asked = g.pick(QUESTIONS)
        got = calls_of(engine.chat([{"role": "user", "content": asked}], schemas, tool_choice="required"))
        tally.add("required, and none fits", len(got) == 1 and isinstance(got[0][1], dict), asked, got)


def arithmetic(cases, engine, tally, n):
    """Arithmetic in words, with a calculator that takes expressions, alone or among others."""
    g = cases.generator
    for _ in range(n):
        asked, expression, calculator = cases.arithmetic()
        schemas = [tool.schema for tool in cases.tools("domains", g.between(0, 4))]
        schemas.insert(g.between(0, len(schemas)), calculator)
        got = calls_of(engine.chat([*cases.system(), {"role": "user", "content": asked}], schemas))
        wanted = [(calculator["function"]["name"], {"expression": expression})]
        tally.add("arithmetic in words", dumps(got).replace(" ", "") == dumps(wanted).replace(" ", ""), asked, got)


def long_prompts(cases, engine, tally, n):
    """One call among ten to twenty tools; and after some two thousand words that don't matter."""
    g = cases.generator
    for i in range(n // 2):
        tools = [tool for kind in ("domains", "nouns") for tool in cases.tools(kind, g.between(5, 10))]
        g.rng.shuffle(tools)
        tool = g.pick(tools)
        asked, arguments = tool.request()
        got = calls_of(engine.chat([{"role": "user", "content": asked}], [each.schema for each in tools]))
        tally.add("one of 10 to 20 tools", got == [(tool.name, arguments)], asked, tool.schema, got, arguments)
        if i % 2:
            continue
        tools = cases.tools(g.pick(["domains", "nouns"]), g.between(2, 6))
        tool = g.pick(tools)
        asked, arguments = tool.request()
        long = {"role": "system", "content": "\n".join(g.sentence() for _ in range(190))}
        got = calls_of(engine.chat([long, {"role": "user", "content": asked}], [each.schema for each in tools]))
        tally.add("after 2,000 tokens", got == [(tool.name, arguments)], asked, tool.schema, got, arguments)


def emulated_calls(cases, engine, tally, n):
    """Tools in the prompt alone, as callgate describes them to a model without tools; nothing holds the answer."""
    g = cases.generator
    for i in range(n // 2):
        convention = ("tags", "json")[i % 2]
        tools = cases.tools(g.pick(["domains", "nouns"]), g.between(1, 6))
        tool = g.pick(tools)
        asked, arguments = tool.request()
        called = {"role": "assistant", "content": "", "tool_calls": [{"name": tool.name, "arguments": arguments}]}
        messages = [*cases.system(), {"role": "user", "content": asked}, called]
        *prompt, wanted = emulated(messages, [each.schema for each in tools], convention)
        got = engine.chat(prompt).get("content")
        tally.add(f"emulated, {convention}", got == wanted["content"], asked, got or "", wanted["content"])


def exchanged(tool, arguments, result):
    return [
        {"role": "assistant", "content": "", "tool_calls": openai_calls([(tool.name, arguments)])},
        {"role": "tool", "tool_call_id": "c0", "content": result},
    ]


def compare_tokens(engine, prompts):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(HERE / "tokenizer.json"))
    tokens = texts = 0
    for messages, tools in prompts:
        text = engine.post("/apply-template", {"messages": messages, "tools": tools})["prompt"]
        request = {"content": text, "parse_special": True, "add_special": False}
        tokens += engine.post("/tokenize", request)["tokens"] != tokenizer.encode(text, add_special_tokens=False).ids
        texts += render(messages, tools) + "<|im_start|>assistant\n" != text
    print(f"prompts tokenized differently by tokenizer.json and llama.cpp: {tokens} of {len(prompts)}")
    print(f"prompts whose text differs from render(): {texts} of {len(prompts)} (llama.cpp normalises tool objects)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--n", type=int, default=100, help="cases of each kind")
    parser.add_argument("--show", type=int, default=4, help="misses of each kind to show")
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--tokens", action="store_true")
    parser.add_argument("--json", action="store_true", help="print the counts as a JSON object in the end")
    options = parser.parse_args()
    engine = Engine(options.model)
    print(f"loaded in {engine.load_seconds:.2f} s; {dumps(engine.get('/props').get('chat_template_caps'))}")
    cases, tally = Cases(options.seed), Tally(options.show)
    prompts = one_call(cases, engine, tally, options.n)
    for run in (parallel_calls, answers, no_call, later_turns, required_calls):
        run(cases, engine, tally, options.n)
    for run in (arithmetic, long_prompts, forced_calls, emulated_calls):
        run(cases, engine, tally, options.n)
    if options.tokens:
        compare_tokens(engine, prompts)
    tally.report()
    print(engine.speed())
    if options.json:
        print(json.dumps({kind: count[:2] for kind, count in tally.counts.items()}))
    sys.stdout.flush()
    engine.leave()


if __name__ == "__main__":
    main()
