"""The pages by keyboard alone."""

import re
from typing import Any

from playwright.async_api import expect


async def test_rows_are_moved_through_and_opened_and_escape_goes_up(browser: Any, served: Any) -> None:
    page = await browser.visit(served.of_run(served.failed))
    rows = page.locator("#evals [data-row]")
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect(rows.nth(1)).to_have_attribute("data-current", "")
    await page.keyboard.press("k")
    await expect(rows.nth(0).locator("a[data-open]")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(rf"{served.failed}/\d+-\w+/\d+-\w+$"))
    await page.keyboard.press("Escape")
    await expect(page).to_have_url(re.compile(rf"{served.failed}/\d+-\w+$"))


async def test_brackets_go_to_the_next_and_the_previous_failure(browser: Any, served: Any) -> None:
    page = await browser.visit(served.result())
    await expect(page.locator(".head")).to_contain_text("failure 1 of 2")
    await page.keyboard.press("]")
    await expect(page.locator(".head")).to_contain_text("failure 2 of 2")
    await page.keyboard.press("[")
    await expect(page.locator(".head")).to_contain_text("failure 1 of 2")


async def test_a_slash_searches_and_a_question_mark_lists_the_keys(browser: Any, served: Any) -> None:
    page = await browser.visit(served.at())
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.keyboard.press("/")
    await page.keyboard.type("second")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(r"/search\?q=second$"))
    await expect(page.get_by_role("main")).to_contain_text("000-basics/001-second")


async def test_control_k_jumps_to_a_model(browser: Any, served: Any) -> None:
    page = await browser.visit(served.at())
    await page.keyboard.press("Control+k")
    await page.keyboard.type("hostile")
    await expect(page.get_by_role("option", name=re.compile("model.*hostile"))).to_be_visible()
    options = await page.get_by_role("option").all_inner_texts()
    for _ in range(next(index for index, text in enumerate(options) if text.startswith("model"))):
        await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(served.at("/model/acme/hostile"))
