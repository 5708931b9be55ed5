"""The page in real Chromium, with the real command, the real engine and the model in the box."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.gateway.command import served
from tests.gateway.page.visiting import Visitor, visiting

pytestmark = [pytest.mark.browser, pytest.mark.engine, pytest.mark.asyncio(loop_scope="session")]

WEATHER = """{"type": "function", "function": {"name": "get_weather", "description": "Get the weather in a city.",
  "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}"""


def expect(locator: Any) -> Any:
    from playwright.async_api import expect as expecting

    return expecting(locator)


@pytest.fixture(scope="module")
def url(require_engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = str(tmp_path_factory.mktemp("served"))
    with served("--explain", "--alias", "plain=tiny-plain", HOME=home, CALLGATE_HOME=home) as gate:
        yield gate.url


async def test_every_model_is_listed_with_what_it_can_and_why(browser: Any, url: str) -> None:
    async with visiting(browser, url) as visitor:
        page = visitor.page
        await expect(page.locator(".model-name")).to_have_text(["plain", "tiny", "tiny-plain"])
        await expect(page.locator(".model .mode")).to_have_text(["emulated", "native", "emulated"])
        await expect(page.locator("#models .badge")).to_have_text(["no tools", "tools", "no tools"])
        await expect(page.locator(".measures").last).to_have_text("11M · Q8_0 · 4k context")
        await visitor.choose("tiny")
        details = page.locator("#details-content")
        await expect(details).to_contain_text("It can call tools.")
        claim = details.locator(".claim").first
        await expect(claim.locator("h5")).to_have_text("Can it call tools?yes")
        await expect(claim.locator(".decisive")).to_contain_text("its chat template shows the model its tools")
        await expect(claim.locator(".decides")).to_have_count(1)
        context = details.locator(".claim", has_text="How much does it take in?")
        await expect(context.locator(".source")).to_have_text(["file header", "a default"])
        await expect(context.locator("li.decisive .source")).to_have_text("file header")
        await visitor.choose("plain")
        await expect(details).to_contain_text("It can’t call tools by itself.")
        await expect(details).to_contain_text("its chat template has no tools")


async def test_the_message_box_is_as_high_as_what_is_in_it(browser: Any, url: str) -> None:
    async with visiting(browser, url) as visitor:
        await visitor.choose("tiny")
        field = visitor.page.locator("#message")
        for text in ("", "hello", "one\ntwo\nthree"):
            await field.fill(text)
            assert await field.evaluate("field => field.scrollHeight <= field.clientHeight")
        await field.fill("")


async def test_a_call_is_shown_and_answered(browser: Any, url: str) -> None:
    async with visiting(browser, url) as visitor:
        await visitor.choose("tiny")
        await visitor.ask("What is 17 * 23?")
        call = visitor.page.locator(".call")
        await expect(call.locator(".call-name")).to_have_text("calculator")
        await expect(call.locator(".mode")).to_have_text("native")
        await expect(call.locator(".call-arguments")).to_have_text('{"expression":"17 * 23"}')
        await expect(call.locator(".call-result pre")).to_have_text("391")
        await expect(call.locator(".call-state")).to_contain_text("done · ")
        answers = visitor.page.locator(".answer")
        await expect(answers).to_have_count(2)
        await expect(answers.last.locator(".said")).to_contain_text("391")
        await expect(answers.last.locator(".facts")).to_contain_text("tokens")
        await expect(visitor.page.locator("#spoken")).to_contain_text("It calls calculator.")
        await expect(visitor.page.locator("#spoken")).to_contain_text("391")


async def test_another_model_goes_on_in_mid_conversation(browser: Any, url: str) -> None:
    sent: list[Any] = []
    async with visiting(browser, url) as visitor:
        visitor.page.on("request", lambda request: sent.append(request.post_data_json) if request.post_data else None)
        await visitor.choose("tiny")
        await visitor.ask("What is 17 * 23?")
        await visitor.choose("plain")
        line = visitor.page.locator(".swap")
        await expect(line).to_contain_text("plain goes on in place of tiny: tools: native → emulated, because its chat")
        await visitor.choose("tiny")
        await expect(line).to_have_count(0)
        await visitor.choose("plain")
        await visitor.ask("Hello!")
        last = visitor.page.locator(".answer").last
        await expect(last.locator(".who")).to_have_text("plain")
        await expect(last.locator(".mode")).to_have_text("emulated")
        await expect(last.locator(".said")).not_to_be_empty()
        await expect(last).to_contain_text("tools are emulated")
        await expect(visitor.page.locator(".trouble")).to_have_count(0)
    assert (sent[-1]["model"], [message["role"] for message in sent[-1]["messages"]]) == (
        "plain",
        ["user", "assistant", "tool", "assistant", "user"],
    )


async def test_the_keyboard_is_enough(browser: Any, url: str) -> None:
    async with visiting(browser, url) as visitor:
        page = visitor.page
        press = page.keyboard.press
        await expect(page.locator("#message")).to_be_focused()
        stops = []
        for _ in range(14):
            await press("Shift+Tab")
            stops.append(await visitor.focused())
            assert await page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") == "solid", stops
        assert stops[3].startswith("plain"), "one stop for the whole list"
        assert stops[4:] == [
            *("thinking", "vision", "tools", "search", "refresh"),
            *("theme", "new-chat", "why-button", "models-button", "Skip to the message"),
        ]
        await press("Enter")
        await expect(page.locator("#message")).to_be_focused()
        await page.evaluate("() => document.activeElement.blur()")
        await press("/")
        await expect(page.locator("#search")).to_be_focused()
        await page.keyboard.type("TINY llama")
        await expect(page.locator(".model:visible")).to_have_count(3)  # tiny-plain is what the other one really is
        for _ in range(2):
            await press("ArrowDown")
        assert (await visitor.focused()).startswith("tiny")
        await press("Enter")
        await expect(page.locator("#current-name")).to_have_text("tiny")
        await expect(page.locator("#message")).to_be_focused()
        await press("Tab")
        assert await visitor.focused() == "tools-button"
        await press("Enter")
        await expect(page.locator("#tools-dialog")).to_be_visible()
        await press("Tab")
        await press("Tab")
        await press("Space")  # switches current_time off
        await press("Escape")
        await expect(page.locator("#tools-dialog")).to_be_hidden()
        await expect(page.locator("#tool-count")).to_have_text("1")
        await expect(page.locator("#tools-button")).to_be_focused()
        await press("Shift+Tab")
        await page.keyboard.type("What is")
        await press("Shift+Enter")
        await expect(page.locator("#message")).to_have_value("What is\n")
        await press("Backspace")
        await page.keyboard.type(" 17 * 23?")
        await press("Enter")
        await expect(page.locator(".answer").last.locator(".said")).to_contain_text("391", timeout=60_000)
        await expect(page.locator("#message")).to_be_focused()


async def test_a_tool_of_the_users_is_answered_by_the_user(browser: Any, url: str) -> None:
    async with visiting(browser, url) as visitor:
        page = visitor.page
        await visitor.choose("tiny")
        await page.locator("#tools-button").click()
        add = page.get_by_role("button", name="Add", exact=True)
        for wrong in ("{", "[]", '{"name": "no spaces"}', '{"name": "calculator"}'):
            await page.locator("#tool-json").fill(wrong)
            await add.click()
            await expect(page.locator("#tool-problem")).not_to_be_empty()
        await page.locator("#tool-json").fill(WEATHER)
        await add.click()
        await expect(page.locator("#tool-problem")).to_be_empty()
        await expect(page.locator("#tool-list code")).to_have_text(["calculator", "current_time", "get_weather"])
        await page.keyboard.press("Escape")
        await visitor.say("What is the weather in Paris?")
        field = page.get_by_label("Result of get_weather")
        await expect(field).to_be_focused(timeout=60_000)
        await expect(page.locator(".call-arguments")).to_have_text('{"city":"Paris"}')
        await field.fill("sunny, 21 degrees")
        await field.press("Enter")
        await expect(page.locator(".call-result pre")).to_have_text("sunny, 21 degrees")
        await expect(page.locator(".answer").last.locator(".said")).to_contain_text("sunny", timeout=60_000)
        await page.reload()
        await expect(page.locator("#tool-count")).to_have_text("3")
        await page.locator("#tools-button").click()
        await page.get_by_role("button", name="Remove get_weather").click()
        await expect(page.locator("#tool-count")).to_have_text("2")


async def test_a_narrow_screen_has_sheets_and_never_scrolls_sideways(browser: Any, url: str) -> None:
    async with visiting(browser, url, viewport={"width": 390, "height": 780}) as visitor:
        page = visitor.page

        async def fits() -> bool:
            return bool(await page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))

        await expect(page.locator("#models-panel")).to_be_hidden()
        await page.locator("#models-button").click()
        await expect(page.locator("#models-panel")).to_be_visible()
        assert await page.evaluate("() => document.getElementById('main').inert")
        assert await fits()
        await visitor.choose("tiny")
        await expect(page.locator("#models-panel")).to_be_hidden()
        assert not await page.evaluate("() => document.getElementById('main').inert")
        await visitor.ask("What is 17 * 23?")
        assert await fits()
        await page.locator("#why-button").click()
        await expect(page.locator("#details-panel")).to_be_visible()
        assert await fits()
        await page.keyboard.press("Escape")
        await expect(page.locator("#details-panel")).to_be_hidden()
        await expect(page.locator("#why-button")).to_be_focused()


async def test_colours_follow_the_system_until_somebody_chooses(browser: Any, url: str) -> None:
    paper = "() => getComputedStyle(document.documentElement).backgroundColor"
    async with visiting(browser, url, color_scheme="dark") as visitor:
        page = visitor.page
        dark = await page.evaluate(paper)
        await expect(page.locator("#theme")).to_have_attribute("aria-pressed", "true")
        await page.locator("#theme").click()
        light = await page.evaluate(paper)
        assert light != dark
        await page.reload()
        assert await page.evaluate(paper) == light
        await page.locator("#theme").click()
        assert await page.evaluate(paper) == dark


async def test_a_key_is_asked_for_and_kept_in_the_tab(browser: Any, require_engine: None) -> None:
    with served("--api-key", "open-sesame") as gate:
        async with visiting(browser, gate.url, waits=False) as visitor:
            visitor.expected = ("401 (Unauthorized)",)
            page = visitor.page
            await expect(page.locator("#key-dialog")).to_be_visible()
            await expect(page.locator("#key-why")).to_contain_text("answers only those who have a key (401)")
            await expect(page.locator("#key")).to_be_focused()
            for wrong, why in (("not this one", "without spaces"), ("not-this-one", "doesn’t know this key (401)")):
                await page.locator("#key").fill(wrong)
                await page.locator("#key").press("Enter")
                await expect(page.locator("#key-why")).to_contain_text(why)
                await expect(page.locator("#key")).to_have_attribute("aria-invalid", "true")
            await page.locator("#key").fill("open-sesame")
            await page.locator("#key").press("Enter")
            await expect(page.locator(".model-name")).to_have_text(["tiny", "tiny-plain"])
            await expect(page.locator("#key-dialog")).to_be_hidden()
            await visitor.ask("Hello!")
            await expect(page.locator(".answer .said")).not_to_be_empty()
            await page.reload()
            await expect(page.locator(".model-name")).to_have_text(["tiny", "tiny-plain"])
            kept = await page.evaluate("() => [sessionStorage.length, JSON.stringify(localStorage)]")
            assert kept[0] == 1
            assert "sesame" not in kept[1]


async def test_a_conversation_starts_anew(browser: Any, url: str) -> None:
    async with visiting(browser, url) as visitor:
        await _example(visitor, "Hello! Who are you?")
        await visitor.page.locator("#new-chat").click()
        await expect(visitor.page.locator(".turn")).to_have_count(0)
        await _example(visitor, "What is 17 * 23?")
        await expect(visitor.page.locator(".question")).to_have_count(1)


async def _example(visitor: Visitor, text: str) -> None:
    await visitor.page.get_by_role("button", name=text).click()
    await expect(visitor.page.locator("#welcome")).to_be_hidden()
    await expect(visitor.page.locator(".answer .facts").first).to_be_attached(timeout=60_000)
    await expect(visitor.page.locator("#send")).to_have_text("Send", timeout=60_000)
