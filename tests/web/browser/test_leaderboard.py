"""The leaderboard: rank, switch, sort, filter, take the numbers along, and find the same view again."""

import re
from typing import Any

from playwright.async_api import Page, expect


async def test_models_are_ranked_by_version_and_experiment_and_sorted_and_filtered(browser: Any, ranked: Any) -> None:
    page = await browser.visit(f"{ranked.origin}/leaderboard")
    assert await _models(page) == ["acme/good", "acme/bad"]
    await expect(page.get_by_role("row", name="acme/good").first).to_contain_text("100.0%")
    await page.get_by_role("link", name="v1", exact=True).click()
    await expect(page).to_have_url(re.compile(r"\?benchmark=v1$"))
    assert await _models(page) == ["acme/old"]
    await page.go_back()
    await expect(page.locator(".head")).to_contain_text("benchmark v2")
    assert await _models(page) == ["acme/good", "acme/bad"]
    await page.get_by_role("link", name="without guidelines").click()
    await expect(page).to_have_url(re.compile("experiment=no_guidelines$"))
    assert await _models(page) == ["acme/bare"]
    await page.go_back()
    await page.get_by_role("button", name="Model", exact=True).click()
    assert await _models(page) == ["acme/bad", "acme/good"]
    await page.get_by_label("Models with").fill("d")
    await page.get_by_role("button", name="Filter").click()
    await expect(page).to_have_url(re.compile(r"q=d&sort=model$"))
    assert await _models(page) == ["acme/bad", "acme/good"]


async def test_reload_and_a_shared_link_show_the_same_view(browser: Any, ranked: Any) -> None:
    page = await browser.visit(f"{ranked.origin}/leaderboard?sort=-model")
    assert await _models(page) == ["acme/good", "acme/bad"]
    await page.get_by_role("button", name="Score", exact=True).click()
    for shown in (page, await browser.visit(page.url)):
        await shown.reload()
        assert await _models(shown) == ["acme/bad", "acme/good"]
        await expect(shown.get_by_role("columnheader", name="Score", exact=True)).to_have_attribute(
            "aria-sort", "ascending"
        )


async def test_the_table_is_exported_as_it_is_shown(browser: Any, ranked: Any) -> None:
    page = await browser.visit(f"{ranked.origin}/leaderboard?benchmark=v1")
    async with page.expect_download() as saved:
        await page.get_by_role("link", name="CSV").click()
    text = (await (await saved.value).path()).read_text()
    assert [line.split(",")[2] for line in text.splitlines()] == ["model", "acme/old"]
    address = await page.get_by_role("link", name="JSON").get_attribute("href")
    answer = await page.request.get(f"{ranked.origin}{address}")
    assert (await answer.json())["benchmark"]["name"] == "v1"


async def test_a_model_leads_to_its_last_run(browser: Any, ranked: Any) -> None:
    page = await browser.visit(f"{ranked.origin}/leaderboard")
    await page.locator("table").first.get_by_role("link", name="acme/good").click()
    await page.locator(f'main a[href$="{ranked.good}"]').last.click()
    await expect(page.locator(".head")).to_contain_text("acme/good")


async def test_why_a_run_is_not_ranked_can_be_read_on_a_phone(browser: Any, ranked: Any) -> None:
    page = await browser.visit(f"{ranked.origin}/leaderboard")
    await page.set_viewport_size({"width": 400, "height": 800})
    why = page.locator("#left-out tbody tr").first.locator("td").last
    await expect(why).not_to_be_empty()
    box = await why.bounding_box()
    assert box is not None and box["x"] + box["width"] <= 400


async def _models(page: Page) -> list[str]:
    names: list[str] = await page.locator("table").first.locator("tbody tr td:nth-child(2) a").all_inner_texts()
    return names
