"""The calculator, Markdown and the rest of what thinks in the page, in a real browser."""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.gateway.page.visiting import visiting
from tests.gateway.running import gateway

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

CALCULATED = """async (expressions) => {
  const { calculated } = await import("/page/arithmetic.js");
  return expressions.map((expression) => {
    try { return calculated(expression); } catch (error) { return `${error.constructor.name}: ${error.message}`; }
  });
}"""

# Each node as [tag, attributes, …children], each text as it is.
RENDERED = """async (texts) => {
  const { Markdown } = await import("/page/markdown.js");
  const told = (node) => node.nodeType === Node.TEXT_NODE ? node.data : [
    node.localName, Object.fromEntries([...node.attributes].map(({ name, value }) => [name, value])),
    ...[...node.childNodes].map(told)];
  return texts.map((text) => {
    const whole = document.createElement("div");
    new Markdown(whole).show(text);
    const grown = document.createElement("div");
    const growing = new Markdown(grown);
    const step = Math.ceil(text.length / (text.length < 1000 ? 20 : 2));
    for (let end = 1; end <= text.length; end += step) growing.show(text.slice(0, end));
    growing.show(text);
    return { nodes: [...whole.childNodes].map(told), text: whole.textContent, isSame: grown.isEqualNode(whole) };
  });
}"""

ALLOWED = {"p", "pre", "code", "strong", "em", "del", "ul", "ol", "li", "blockquote", "hr", "div", "table"} | {
    *("thead", "tbody", "tr", "th", "td"),
    *("h3", "h4", "h5", "h6"),
}


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Any) -> AsyncIterator[Any]:
    async with gateway() as gate, visiting(browser, gate.url, waits=False) as visitor:
        yield visitor.page


VALUES = {
    "17 * 23": 391,
    "1 + 2 * 3 - 4 / 2": 5,
    "(1 + 2) * 3": 9,
    "2 ^ 3 ^ 2": 512,
    "-2 ^ 2": -4,
    "2 ** -1": 0.5,
    "0.1 + 0.2": 0.3,
    "7 % 4": 3,
    "- - 3": 3,
    "5! / 3!": 20,
    "sqrt(16) + abs(-3)": 7,
    "max(1, 2, 3) - min(4, 5)": -1,
    "pow(2, 10)": 1024,
    "round(2.5) + floor(-1.5) + ceil(1.2)": 3,
    "6 × 7 ÷ 2 − 1": 20,
    "17 x 23": 391,
    "1e3 + .5 + 1_000": 2000.5,
    "2 * PI": 2 * math.pi,
    "log(1000) + ln(e) + log2(8)": 7,
    " 4 ": 4,
}
MISTAKES = [
    "",
    "   ",
    "1 +",
    "* 2",
    "(1",
    "1)",
    "1 2",
    "2(3)",
    "1 / 0",
    "0 / 0",
    "sqrt(-1)",
    "10 ^ 400",
    "171!",
    "1.5!",
    "sqrt(1, 2)",
    "pow(2)",
    "alert(1)",
    "constructor",
    "toString()",
    "__proto__",
    "globalThis.x",
    "1; 2",
    "'a'",
    "`${1}`",
    "[1]",
    "1,000",
    "(" * 400 + "1" + ")" * 400,
    "-" * 900 + "1",
    "1" * 1001,
    "²",
]


async def test_the_calculator_calculates(page: Any) -> None:
    values = await page.evaluate(CALCULATED, list(VALUES))
    assert values == pytest.approx(list(VALUES.values()), rel=1e-14)


async def test_the_calculator_says_what_it_cannot_read(page: Any) -> None:
    said = await page.evaluate(CALCULATED, MISTAKES)
    for expression, answer in zip(MISTAKES, said, strict=True):
        assert isinstance(answer, str), expression
        assert answer.startswith("Error: "), (expression, answer)
    assert (await page.evaluate(CALCULATED, [None, {}, 5]))[0].startswith("Error: ")


numbers = st.integers(0, 999) | st.floats(0, 1e6, allow_nan=False).map(lambda number: round(number, 3))
expressions = st.recursive(
    numbers.map(repr),
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: f"({' '.join(parts)})")
        | inner.map(lambda text: f"-{text}")
    ),
    max_leaves=20,
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(asked=st.lists(expressions.filter(lambda text: len(text) < 900), min_size=10, max_size=30))
async def test_the_calculator_agrees_with_python(page: Any, asked: list[str]) -> None:
    for expression, value in zip(asked, await page.evaluate(CALCULATED, asked), strict=True):
        try:
            wanted = eval(expression)
        except ZeroDivisionError:
            assert isinstance(value, str), expression
            continue
        if not math.isfinite(wanted):
            assert isinstance(value, str), expression
        else:
            assert value == pytest.approx(wanted, rel=1e-9, abs=1e-9), expression


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(asked=st.lists(st.text("0123456789.eE+-*/%^!(), xpisqrt_maπ×\\\"'`$;[]{}\n", max_size=60), max_size=40))
async def test_the_calculator_answers_anything_with_a_number_or_an_error(page: Any, asked: list[str]) -> None:
    for expression, value in zip(asked, await page.evaluate(CALCULATED, asked), strict=True):
        assert isinstance(value, int | float) or value.startswith("Error: "), (expression, value)


MARKDOWN: dict[str, list[Any]] = {
    "Hello.": [["p", {}, "Hello."]],
    "One\ntwo\n\nthree": [["p", {}, "One\ntwo"], ["p", {}, "three"]],
    "a **b** *c* `d` ~~e~~": [
        ["p", {}, "a ", ["strong", {}, "b"], " ", ["em", {}, "c"], " ", ["code", {}, "d"], " ", ["del", {}, "e"]]
    ],
    "**a *b* c**": [["p", {}, ["strong", {}, "a ", ["em", {}, "b"], " c"]]],
    "`**not bold**`": [["p", {}, ["code", {}, "**not bold**"]]],
    "`` a ` b ``": [["p", {}, ["code", {}, "a ` b"]]],
    "snake_case_name 2 * 3 * 4 \\*x\\*": [["p", {}, "snake_case_name 2 * 3 * 4 *x*"]],
    "**open": [["p", {}, "**open"]],
    "# A\n###### B #": [["h3", {}, "A"], ["h6", {}, "B"]],
    "```python\nx = 1\n\n# **y**\n```\nafter": [
        ["pre", {"tabindex": "0", "data-language": "python"}, ["code", {}, "x = 1\n\n# **y**"]],
        ["p", {}, "after"],
    ],
    "~~~\nnever closed": [["pre", {"tabindex": "0"}, ["code", {}, "never closed"]]],
    "- a\n- b\n  - c\n": [["ul", {}, ["li", {}, "a"], ["li", {}, "b", ["ul", {}, ["li", {}, "c"]]]]],
    "3. a\n4. b": [["ol", {"start": "3"}, ["li", {}, "a"], ["li", {}, "b"]]],
    "> a\n> b": [["blockquote", {}, ["p", {}, "a\nb"]]],
    "a\n\n---\n\nb": [["p", {}, "a"], ["hr", {}], ["p", {}, "b"]],
    "<b>x</b> & <script>alert(1)</script>": [["p", {}, "<b>x</b> & <script>alert(1)</script>"]],
    "[a](javascript:alert(1)) ![b](http://x/y.png)": [["p", {}, "[a](javascript:alert(1)) ![b](http://x/y.png)"]],
}


async def test_markdown_becomes_nodes(page: Any) -> None:
    rendered = await page.evaluate(RENDERED, list(MARKDOWN))
    for (text, nodes), shown in zip(MARKDOWN.items(), rendered, strict=True):
        assert shown["nodes"] == nodes, text
        assert shown["isSame"], text


async def test_a_table_is_a_table(page: Any) -> None:
    (shown,) = await page.evaluate(RENDERED, ["| a | b |\n|---|:-:|\n| **1** | 2 | 3 |\n| 4 |"])
    ((_, _, (_, _, head, body)),) = shown["nodes"]
    assert head == ["thead", {}, ["tr", {}, ["th", {}, "a"], ["th", {}, "b"]]]
    first, second = body[2:]
    assert first == ["tr", {}, ["td", {}, ["strong", {}, "1"]], ["td", {}, "2"]]
    assert second == ["tr", {}, ["td", {}, "4"], ["td", {}]]


hostile = st.text("ab1 \t\n*_`~#>-+|.\\<>&\"'/=()[]:!é\x00\u202e", max_size=200) | st.sampled_from(
    [
        "<img src=x onerror=alert(1)>",
        "**" * 9_000,
        "*a " * 6_000,
        "`a``b" * 3_000,
        "> " * 5_000 + "deep",
        "- " * 5_000 + "deep",
        "|" * 10_000 + "\n" + "|-" * 10_000,
        "_" * 19_999 + "a",
        "\\" * 10_000,
        " " * 10_000 + "- a",
    ]
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(texts=st.lists(hostile, max_size=12))
async def test_no_text_becomes_anything_but_the_few_elements(page: Any, texts: list[str]) -> None:
    for text, shown in zip(texts, await page.evaluate(RENDERED, texts), strict=True):
        assert shown["isSame"], text[:100]
        for tag, attributes in _elements(shown["nodes"]):
            assert tag in ALLOWED, text[:100]
            assert set(attributes) <= {"tabindex", "data-language", "start", "class"}, text[:100]


def _elements(nodes: list[Any]) -> list[tuple[str, dict[str, str]]]:
    found: list[tuple[str, dict[str, str]]] = []
    left = [node for node in nodes if isinstance(node, list)]
    while left:
        tag, attributes, *children = left.pop()
        found.append((tag, attributes))
        left += [child for child in children if isinstance(child, list)]
    return found


async def test_events_are_read_however_they_are_cut(page: Any) -> None:
    sent = 'data: {"a":1}\n\n: comment\ndata: two\r\ndata: lines\r\n\r\nevent: x\ndata:é\r\rdata: never ended'
    read = await page.evaluate(
        """async (sent) => {
          const { events } = await import("/page/sse.js");
          const bytes = new TextEncoder().encode(sent);
          const all = [];
          for (const size of [1, 2, 3, 7, bytes.length]) {
            const body = new ReadableStream({ start(controller) {
              for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
              controller.close();
            } });
            const found = [];
            for await (const data of events(body)) found.push(data);
            all.push(found);
          }
          return all;
        }""",
        sent,
    )
    assert read == [['{"a":1}', "two\nlines", "é"]] * 5


async def test_calls_are_put_together_out_of_pieces(page: Any) -> None:
    deltas = [
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "add", "arguments": ""}}]},
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "sub", "arguments": '{"x"'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"y":2}'}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": ":1}"}}]},
        {"tool_calls": "nonsense", "content": 5},
    ]
    message = await page.evaluate(
        """async (deltas) => {
          const { Answer } = await import("/page/answer.js");
          const answer = new Answer();
          for (const delta of deltas) answer.take({ choices: [{ delta }] });
          return answer.message();
        }""",
        deltas,
    )
    calls = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message["tool_calls"]
    ]
    assert calls == [("a", "add", {"y": 2}), ("b", "sub", {"x": 1})]
    assert message["content"] is None


async def test_the_time_is_told_for_a_city_or_a_zone(page: Any) -> None:
    said = await page.evaluate(
        """async (asked) => {
          const { BUILT_IN } = await import("/page/tools.js");
          const { run } = BUILT_IN.find((tool) => tool.name === "current_time");
          return asked.map((given) => { try { return run(given); } catch (error) { return error.message; } });
        }""",
        [{"timezone": "Europe/Paris"}, {"timezone": "tokyo"}, {"timezone": "UTC"}, {}, {"timezone": "Nowhere"}],
    )
    assert [text.split()[-1] for text in said[:3]] == ["Europe/Paris", "Asia/Tokyo", "UTC"]
    assert all(re.fullmatch(r"\w+day \d{4}-\d\d-\d\d \d\d:\d\d \S+", text) for text in said[:4])
    assert said[4] == 'there is no time zone "Nowhere"'
