"""Takes the picture of the server's page that README.md shows: `python -m workshop.page_picture`, in the environment
`test-engine`. It needs Chromium; with the font Inter it looks best."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "page.png"
LARGEST = 150_000
"""Bytes: whoever reads README.md loads it."""
_SERVE = ("-m", "callgate", "serve", "--port", "0", "--json", "--explain", "--alias", "tiny-plain=tiny-plain")


def main() -> int:
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no Chromium: install it (Debian: apt-get install chromium)", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as home:
        environ = {"HOME": home, "CALLGATE_HOME": home, "OLLAMA_HOST": "http://127.0.0.1:9", "PATH": "/usr/bin:/bin"}
        command = [sys.executable, *_SERVE]
        with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) as server:
            try:
                assert server.stdout
                _take(chromium, json.loads(server.stdout.readline())["url"])
            finally:
                server.terminate()
    size = PICTURE.stat().st_size
    print(f"{PICTURE.name}: {size:,} bytes")
    return 0 if size <= LARGEST else 1


def _take(chromium: str, url: str) -> None:
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        page = browser.new_page(viewport={"width": 1240, "height": 720}, color_scheme="light", locale="en-GB")
        page.goto(url)
        for model, question in (("tiny", "What is 17 * 23?"), ("tiny-plain", "Hello!")):
            page.locator(".model", has=page.get_by_text(model, exact=True)).click()
            page.locator("#message").fill(question)
            page.locator("#message").press("Enter")
            expect(page.locator(".question", has_text=question)).to_be_attached()
            expect(page.locator("#send")).to_have_text("Send", timeout=60_000)
        page.locator("#message").blur()
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
