"""Somebody who looks at the page, and notices whatever goes wrong in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

VIOLATIONS = """
globalThis.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  globalThis.violations.push(`${event.violatedDirective}: ${event.blockedURI}`);
});
"""


class Visitor:
    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.url = url
        self.problems: list[str] = []
        self.expected: tuple[str, ...] = ()
        """What the console may say."""
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: self.problems.append(f"a window: {dialog.message}"))
        page.on("request", self._watch)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and not any(word in message.text for word in self.expected):
            self.problems.append(message.text)

    def _watch(self, request: Any) -> None:
        if not request.url.startswith((f"{self.url}/", "data:")):
            self.problems.append(f"asked for {request.url}")

    async def arrive(self, *, waits: bool = True) -> None:
        """`waits` until the models are there."""
        await self.page.goto(self.url)
        if waits:
            await self.page.locator(".model").first.wait_for(state="attached")

    async def choose(self, model: str) -> None:
        """By the mouse."""
        await self.page.locator(".model", has=self.page.get_by_text(model, exact=True)).click()

    async def say(self, text: str) -> None:
        await self.page.locator("#message").fill(text)
        await self.page.locator("#message").press("Enter")

    async def ask(self, text: str) -> None:
        """Says something, and waits until the answer is whole."""
        from playwright.async_api import expect

        before = await self.page.locator(".answer").count()
        await self.say(text)
        await expect(self.page.locator(".answer").nth(before)).to_be_attached(timeout=30_000)
        await expect(self.page.locator("#send")).to_have_text("Send", timeout=60_000)

    async def focused(self) -> str:
        """What has the focus: its id, or its text."""
        said = await self.page.evaluate("() => document.activeElement.id || document.activeElement.textContent.trim()")
        return str(said)

    async def leave(self) -> None:
        violations = await self.page.evaluate("() => globalThis.violations")
        assert not violations, violations
        assert not self.problems, self.problems


@asynccontextmanager
async def visiting(browser: Any, url: str, *, waits: bool = True, **context: Any) -> AsyncIterator[Visitor]:
    """At the end there must have been no error, no violation of the policy, no window, no request to elsewhere."""
    given = {"viewport": {"width": 1360, "height": 860}, **context}
    opened = await browser.new_context(**given)
    try:
        page = await opened.new_page()
        page.set_default_timeout(20_000)
        await page.add_init_script(VIOLATIONS)
        visitor = Visitor(page, url)
        await visitor.arrive(waits=waits)
        yield visitor
        await visitor.leave()
    finally:
        await opened.close()
