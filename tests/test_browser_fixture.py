"""The fixture `browser` keeps its promises."""

from typing import Any

from playwright.async_api import expect

Browser = Any


async def test_every_page_belongs_to_a_new_visitor(browser: Browser, tmp_path: Any) -> None:
    document = tmp_path / "page.html"
    document.write_text("<h1>hello</h1><script>document.title = localStorage.visited ?? 'new'</script>")
    for _ in range(2):
        page = await browser.visit(document.as_uri())
        await expect(page).to_have_title("new")
        await page.evaluate("localStorage.visited = 'before'")


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
