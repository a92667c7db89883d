"""The fixture `browser` keeps its promises."""

from typing import Any

import pytest
from playwright.async_api import expect

Browser = Any


@pytest.mark.parametrize("test", ["the first test", "the next test"])
async def test_every_page_belongs_to_a_new_visitor(browser: Browser, tmp_path: Any, test: str) -> None:
    """Files have one storage in common, whichever folder they are in."""
    document = tmp_path / "page.html"
    document.write_text("<h1>hello</h1><script>document.title = localStorage.visited ?? 'new'</script>")
    for _ in range(2):
        page = await browser.visit(document.as_uri())
        await expect(page).to_have_title("new")
        await page.evaluate("localStorage.visited = 'before'")


@pytest.mark.parametrize("test", ["the first test", "the next test"])
async def test_no_page_has_the_cookies_of_another(browser: Browser, test: str) -> None:
    page = await browser.page()
    assert await page.context.cookies() == []
    await page.context.add_cookies([{"name": "visited", "value": test, "url": "http://127.0.0.1"}])


async def test_what_pages_throw_and_log_as_errors_is_kept_until_it_is_taken(browser: Browser) -> None:
    page = await browser.page()
    await page.evaluate("console.log('fine'); console.warn('so so'); console.error('bad')")
    async with page.expect_event("pageerror"):
        await page.evaluate("void setTimeout(() => { throw new Error('worse') })")
    assert browser.take_complaints() == ["bad", "worse"]
    assert browser.take_complaints() == []


async def test_pages_reach_this_machine_only(browser: Browser) -> None:
    page = await browser.page()
    async with page.expect_console_message():
        failure = await page.evaluate("fetch('http://192.0.2.1/').catch((error) => error.message)")
    assert failure == "Failed to fetch"
    [complaint] = browser.take_complaints()
    assert complaint.endswith("net::ERR_PROXY_CONNECTION_FAILED")
