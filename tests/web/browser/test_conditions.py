"""The pages where browsers differ: narrow, without scripts, and with text that wants to be more than text."""

from typing import Any

from playwright.async_api import expect
from tests.web.browser.test_accessibility import OVERFLOW

NARROW = {"width": 360, "height": 740}


async def test_no_tab_of_a_result_is_wider_than_a_small_phone(browser: Any, served: Any) -> None:
    page = await browser.visit(served.of_run(served.hostile, "/000-basics/001-second"), viewport=NARROW)
    wide = []
    for tab in await page.locator("[data-tabs] a").all():
        await tab.click()
        if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append((await tab.inner_text(), await page.evaluate(OVERFLOW)))
    assert wide == []


async def test_without_scripts_everything_can_be_read_filtered_and_compared(browser: Any, served: Any) -> None:
    page = await browser.visit(served.result(), java_script_enabled=False)
    for panel in ("steps", "diff", "files", "why", "task", "prompt", "response", "attempts"):
        await expect(page.locator(f"#{panel}")).to_be_visible()
    await expect(page.get_by_role("button", name="Copy link")).to_be_hidden()
    await page.goto(served.at("/runs"))
    await page.get_by_label("model", exact=True).select_option("tiny")
    await page.get_by_role("button", name="Filter").click()
    await expect(page.locator("main tbody tr")).to_have_count(2)
    for box in await page.get_by_role("checkbox").all():
        await box.check()
    await page.get_by_role("button", name="Compare the ticked runs").click()
    await expect(page.get_by_role("main")).to_contain_text("000-basics/001-second")


async def test_text_of_a_hostile_model_stays_text(browser: Any, served: Any) -> None:
    page = await browser.page()
    await page.add_init_script("window.hits = 0; window.hit = () => { window.hits += 1; }")
    for path in ("", "/000-basics/001-second"):
        await page.goto(served.of_run(served.hostile, path))
        await expect(page.get_by_role("main")).to_contain_text("<script>hit()</script>")
        assert await page.evaluate("window.hits") == 0
        assert await page.locator("main img, main script, main a[href^=javascript]").count() == 0
        text = await page.get_by_role("main").inner_text()
        assert "\x1b" not in text and "\u202e" not in text
