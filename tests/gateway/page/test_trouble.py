"""The page when things go wrong, and when models, tools and names are hostile."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callgate.gateway import Options
from callgate.vocabulary import AssistantDelta, Done, Event, ThinkingDelta, ToolCall, ToolCallEvent, Usage
from tests.gateway.page.visiting import visiting
from tests.gateway.running import PlayedServer, gateway, no_servers, recording
from tests.wire.server import serving

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>"
ERROR = {"error": {"type": "BackendError", "message": f"the cellar caught fire {HOSTILE}", "hint": None}}
DOT = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
ANSWER = (AssistantDelta("All is "), AssistantDelta("well."), Usage(3, 2), Done("stop"))


def expect(locator: Any) -> Any:
    from playwright.async_api import expect as expecting

    return expecting(locator)


def called(name: str, **arguments: object) -> tuple[ToolCallEvent, Done]:
    return ToolCallEvent(ToolCall("call-1", name, arguments)), Done("tool_calls")


async def test_an_error_in_mid_stream_is_shown_and_tried_again(browser: Any, tmp_path: Path) -> None:
    played = recording(tmp_path / "said", (AssistantDelta("Half of it"), ERROR), ANSWER)
    async with gateway(Options(aliases={"played": played})) as gate, visiting(browser, gate.url) as visitor:
        await visitor.choose("played")
        await visitor.ask("Hello?")
        answer = visitor.page.locator(".answer")
        await expect(answer.locator(".said")).to_have_text("Half of it")
        await expect(answer.get_by_role("alert")).to_contain_text("the cellar caught fire <img src=x")
        await answer.get_by_role("button", name="Try again").click()
        await expect(answer.locator(".said")).to_have_text("All is well.")
        await expect(visitor.page.get_by_role("alert").locator("span")).to_have_count(0)
        await expect(visitor.page.locator("img, svg[onload]")).to_have_count(0)


async def test_an_upstream_that_breaks_off_is_told(browser: Any) -> None:
    upstream = PlayedServer()
    upstream.breaks_off = True
    upstream.go_on.set()
    async with upstream.served() as url:
        known = no_servers(discovery__endpoints=f"played={url}/v1")
        async with gateway(known=known) as gate, visiting(browser, gate.url) as visitor:
            await visitor.choose("slow")
            await visitor.ask("Tell me a story.")
            await expect(visitor.page.locator(".answer .said")).to_have_text("Once")
            await expect(visitor.page.locator(".answer .trouble")).to_be_visible()


async def test_escape_stops_an_answer_and_keeps_what_was_said(browser: Any) -> None:
    upstream = PlayedServer()
    async with upstream.served() as url:
        known = no_servers(discovery__endpoints=f"played={url}/v1")
        async with gateway(known=known) as gate, visiting(browser, gate.url) as visitor:
            await visitor.choose("slow")
            await visitor.say("Tell me a story.")
            await expect(visitor.page.locator(".answer .said")).to_contain_text("Once and")
            await expect(visitor.page.locator("#send")).to_have_text("Stop")
            await expect(visitor.page.locator("#state")).to_contain_text("Escape stops it")
            await visitor.page.keyboard.press("Escape")
            await expect(visitor.page.locator("#send")).to_have_text("Send")
            await expect(visitor.page.locator(".answer .facts")).to_contain_text("stopped")
            await expect(visitor.page.locator(".trouble")).to_have_count(0)
            await upstream.was_left.wait()
            upstream.go_on.set()
            await visitor.ask("Go on.")
            roles = [message["role"] for message in upstream.asked[-1]["messages"]]
            assert [role for role in roles if role != "system"] == ["user", "assistant", "user"]


async def test_nothing_that_is_said_becomes_markup(browser: Any, tmp_path: Path) -> None:
    tool = {"name": "lookup", "parameters": {"type": "object", "properties": {"what": {"type": "string"}}}}
    played = recording(
        tmp_path / "said",
        (ThinkingDelta(HOSTILE), AssistantDelta(f"**{HOSTILE}** `{HOSTILE}`"), *called("lookup", what=HOSTILE)),
        (AssistantDelta(f"```{HOSTILE}\n{HOSTILE}\n```\n- {HOSTILE}\n\n# {HOSTILE}"), Done("stop")),
        called(HOSTILE, what=1),
        (AssistantDelta("The end."), Done("stop")),
    )
    async with (
        gateway(Options(aliases={HOSTILE: played, "other": played}, explain=True)) as gate,
        visiting(browser, gate.url) as visitor,
    ):
        page = visitor.page
        await page.locator("#tools-button").click()
        await page.locator("#tool-json").fill(json.dumps({**tool, "description": HOSTILE}))
        await page.get_by_role("button", name="Add", exact=True).click()
        await expect(page.locator("#tool-list")).to_contain_text(HOSTILE)
        await page.keyboard.press("Escape")
        await visitor.choose("other")
        await visitor.say(HOSTILE)
        await page.get_by_label("Result of lookup").fill(HOSTILE)
        await page.get_by_label("Result of lookup").press("Enter")
        await expect(page.locator("#send")).to_have_text("Send")
        await expect(page.locator(".call-result pre")).to_have_text(HOSTILE)
        await expect(page.locator(".call-arguments")).to_contain_text("onerror")
        await expect(page.locator(".thoughts").first).to_have_text(HOSTILE)
        await expect(page.locator(".answer pre code").last).to_have_text(HOSTILE)
        await visitor.choose(HOSTILE)
        await expect(page.locator(".swap strong").first).to_have_text(HOSTILE)
        await expect(page.locator("#current-name")).to_have_text(HOSTILE)
        await expect(page.locator(".details-name")).to_have_text(HOSTILE)
        await visitor.ask("Again.")
        await expect(page.locator(".answer .said").last).to_have_text("The end.")
        await expect(page.locator("img")).to_have_count(0)
        assert await page.locator("script").count() == 2, "those of the page itself"
        assert await page.locator("[onerror], [onload]").count() == 0


async def test_a_call_of_no_tool_and_a_tool_that_fails_are_told_to_the_model(browser: Any, tmp_path: Path) -> None:
    played = recording(tmp_path / "said", called("calculator", expression="1 / 0"), called("nothing"), ANSWER)
    async with gateway(Options(aliases={"played": played})) as gate, visiting(browser, gate.url) as visitor:
        await visitor.choose("played")
        await visitor.ask("What is 1 / 0?")
        results = visitor.page.locator(".call-result pre")
        await expect(results).to_have_text(
            ["Error: this is too large, or divides by zero", 'Error: there is no tool "nothing"']
        )
        await expect(visitor.page.locator(".call.has-failed")).to_have_count(2)
        await expect(visitor.page.locator(".answer .said").last).to_have_text("All is well.")


async def test_a_model_that_calls_for_ever_is_stopped(browser: Any, tmp_path: Path) -> None:
    played = recording(tmp_path / "said", *[called("calculator", expression=f"{number} + 1") for number in range(20)])
    async with gateway(Options(aliases={"played": played})) as gate, visiting(browser, gate.url) as visitor:
        await visitor.choose("played")
        await visitor.ask("Count.")
        await expect(visitor.page.locator(".call")).to_have_count(8)
        await expect(visitor.page.locator("#thread > .note")).to_contain_text("8 times in a row")


async def test_the_end_is_in_sight_unless_somebody_reads_further_up(browser: Any, tmp_path: Path) -> None:
    lines = [AssistantDelta(f"Line {number}\n\n") for number in range(200)]
    long: list[Event] = [*lines, AssistantDelta("The end."), Done("stop")]
    played = recording(tmp_path / "said", long, ANSWER)
    async with gateway(Options(aliases={"played": played})) as gate, visiting(browser, gate.url) as visitor:
        await visitor.choose("played")
        await visitor.ask("Tell me all.")
        await expect(visitor.page.get_by_text("The end.", exact=True)).to_be_in_viewport()
        await visitor.page.locator("#scroller").evaluate("(element) => { element.scrollTop = 0; }")
        await expect(visitor.page.locator(".question")).to_be_in_viewport()
        await visitor.choose("tiny")
        await expect(visitor.page.locator(".swap")).to_be_attached()
        await expect(visitor.page.locator(".question")).to_be_in_viewport()
        await visitor.choose("played")
        await visitor.ask("And now?")
        await expect(visitor.page.get_by_text("All is well.", exact=True).last).to_be_in_viewport()


async def test_what_was_mended_and_what_was_thought_is_told(browser: Any, tmp_path: Path) -> None:
    mended = ToolCallEvent(ToolCall("call-1", "Calculator", {"expression": "2 + 3"}))
    said = (ThinkingDelta("Hmm, "), ThinkingDelta("sums."), mended, Done("tool_calls"))
    played = recording(tmp_path / "said", said, ANSWER)
    options = Options(aliases={"played": played}, explain=True)
    async with gateway(options) as gate, visiting(browser, gate.url) as visitor:
        await visitor.choose("played")
        await visitor.ask("What is 2 + 3?")
        first = visitor.page.locator(".answer").first
        await expect(first.locator(".call-name")).to_have_text("calculator")
        await expect(first.locator(".repairs")).to_contain_text('"Calculator" → "calculator"')
        await expect(first.locator(".call-result pre")).to_have_text("5")
        await expect(first.locator(".thoughts")).to_be_hidden()
        await expect(first.locator("summary")).to_contain_text("Thought for")
        await first.locator("summary").click()
        await expect(first.locator(".thoughts")).to_have_text("Hmm, sums.")


async def test_a_server_that_is_gone_is_told(browser: Any) -> None:
    async with gateway() as gate, visiting(browser, gate.url) as visitor:
        visitor.expected = ("ERR_CONNECTION_REFUSED", "ERR_FAILED")
        await visitor.page.route("**/v1/chat/completions", lambda route: route.abort("connectionrefused"))
        await visitor.ask("Hello?")
        await expect(visitor.page.locator(".answer .trouble")).to_contain_text("The server can't be reached")


async def test_five_hundred_models_are_searched(browser: Any) -> None:
    async def models(_: web.Request) -> web.StreamResponse:
        return web.json_response({"object": "list", "data": [{"id": f"model-{number}"} for number in range(500)]})

    async with serving(("GET", "/v1/models", models)) as url:
        known = no_servers(discovery__endpoints=f"played={url}/v1")
        async with gateway(known=known) as gate, visiting(browser, gate.url) as visitor:
            page = visitor.page
            await expect(page.locator(".model")).to_have_count(502)
            await expect(page.locator("#model-count")).to_have_text("502")
            await page.locator("#search").fill("model-49")
            await expect(page.locator("#model-count")).to_have_text("11 of 502")
            await page.keyboard.press("ArrowDown")
            await page.keyboard.press("End")
            await page.keyboard.press("Enter")
            await expect(page.locator("#current-name")).to_have_text("model-499")
            await page.locator("#search").fill("")
            await page.locator("[data-filter=tools]").click()
            await expect(page.locator(".model:visible .model-name")).to_have_text(["tiny"])
            await page.locator("#search").fill("nothing like that")
            await expect(page.locator("#no-match")).to_be_visible()


async def test_images_go_to_models_that_see_and_no_message_to_those_that_embed(browser: Any, tmp_path: Path) -> None:
    asked: list[Any] = []

    async def models(_: web.Request) -> web.StreamResponse:
        return web.json_response({"data": [{"id": name} for name in ("qwen2.5vl:7b", "nomic-embed-text")]})

    async def chat(request: web.Request) -> web.StreamResponse:
        asked.append(await request.json())
        chunk = {"choices": [{"index": 0, "delta": {"content": "A dot."}, "finish_reason": "stop"}]}
        body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
        return web.Response(body=body.encode(), content_type="text/event-stream")

    picture, note = tmp_path / "dot.png", tmp_path / "note.txt"
    picture.write_bytes(DOT)
    note.write_text("no picture")
    async with serving(("GET", "/v1/models", models), ("POST", "/v1/chat/completions", chat)) as url:
        known = no_servers(discovery__endpoints=f"played={url}/v1")
        async with gateway(known=known) as gate, visiting(browser, gate.url) as visitor:
            page = visitor.page
            await visitor.choose("tiny")
            await expect(page.locator("#attach")).to_be_hidden()
            await visitor.choose("qwen2.5vl:7b")
            await expect(page.locator("#attach")).to_be_visible()
            await page.locator("#attach-file").set_input_files([picture, note])
            await expect(page.locator("#attached img")).to_have_count(1)
            await expect(page.locator("#attach-problem")).to_contain_text("note.txt is no image")
            await visitor.ask("What is this?")
            await expect(page.locator(".question img")).to_have_count(1)
            await expect(page.locator("#attached")).to_be_hidden()
            await expect(page.locator(".answer .said")).to_have_text("A dot.")
            await visitor.choose("nomic-embed-text")
            await expect(page.locator("#send")).to_be_disabled()
            await expect(page.locator("#message")).to_have_attribute("placeholder", re.compile("doesn’t chat"))
    sent = asked[0]["messages"][-1]["content"]
    assert [part["type"] for part in sent] == ["text", "image_url"]
    assert sent[1]["image_url"]["url"].startswith("data:image/png;base64,")


CONTRASTS = """() => {
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).map(Number).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/^rgba\\(.*, 0\\)$/.test(colour)) return colour;
    }
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!hasText || !element.checkVisibility({ checkOpacity: true }) || element.closest(".unseen, :disabled")) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(`${element.className || element.localName}: ${ratio.toFixed(2)}`);
  }
  const nameless = [...document.querySelectorAll("button, input, textarea, [role=listbox], aside, dialog")].filter(
    (element) => !(element.getAttribute("aria-label") || element.getAttribute("aria-labelledby") ||
      element.textContent.trim() || element.labels?.length || element.type === "file"));
  return [faint, nameless.map((element) => element.outerHTML)];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_all_text_can_be_read_and_everything_has_a_name(browser: Any, tmp_path: Path, scheme: str) -> None:
    said = (ThinkingDelta("So."), AssistantDelta("`code` **bold**\n> quote"), *called("calculator", expression="1 / 0"))
    played = recording(tmp_path / "said", said, called("current_time"), (AssistantDelta("No."), ERROR))
    options = Options(aliases={"played": played, "plain": "tiny-plain"}, explain=True)
    async with gateway(options) as gate, visiting(browser, gate.url, color_scheme=scheme) as visitor:
        await visitor.choose("played")
        await visitor.ask("Show everything.")
        await visitor.choose("plain")
        await expect(visitor.page.locator(".swap")).to_be_visible()
        await visitor.page.locator("summary", has_text="other findings").click()
        assert await visitor.page.evaluate(CONTRASTS) == [[], []]
