"""A publication, opened from the disk without any server."""

from pathlib import Path
from typing import Any

from playwright.async_api import expect

from convex_evals.web import publish


async def test_a_publication_is_read_from_the_disk(browser: Any, ranked: Any, tmp_path: Path) -> None:
    await publish(ranked.site, tmp_path / "public")
    page = await browser.visit((tmp_path / "public" / "index.html").as_uri())
    board = page.locator("table").first
    await expect(board).to_contain_text("acme/good")
    assert await board.evaluate("each => getComputedStyle(each).borderCollapse") == "collapse"  # the style is there
    await page.get_by_role("button", name="Model", exact=True).click()
    await expect(board.locator("tbody tr").first).to_contain_text("acme/bad")
    await page.get_by_role("link", name="v1", exact=True).click()
    await expect(board).to_contain_text("acme/old")
    await page.get_by_role("link", name="Runs", exact=True).click()
    await expect(page.get_by_role("main")).to_contain_text("convex-evals serve also filters, sorts and compares runs")
    await expect(page.locator("main input, main form")).to_have_count(0)
    await page.locator("main tbody").get_by_role("row", name="acme/bad").locator("a.id").click()
    await page.get_by_role("link", name="001-second").first.click()
    await expect(page.locator(".box.failed")).to_contain_text("assert count == 2")
    await page.get_by_role("link", name="The answer against the reference").click()
    await expect(page.locator("#diff .old").first).to_contain_text("the reference")
    await page.get_by_role("link", name="Steps").click()
    await expect(page.locator("#diff")).to_be_hidden()
