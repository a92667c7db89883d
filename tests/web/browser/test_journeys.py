"""What people do on the pages, in a real browser."""

import asyncio
import re
from typing import Any

from playwright.async_api import Page, expect

from convex_evals.cli import main

FIRST, SECOND, INDEX = "000-basics/000-first", "000-basics/001-second", "001-queries/000-index"


async def test_three_clicks_lead_from_home_to_the_failing_assertion_and_one_more_to_the_diff(
    browser: Any, served: Any
) -> None:
    page = await browser.visit(served.at())
    await page.locator(f'main a.id[href$="{served.failed}"]').click()
    await page.get_by_role("link", name="Failures by cause").click()
    await page.locator("#causes").get_by_role("link", name=SECOND).click()
    await expect(page.locator(".box.failed")).to_contain_text("assert count == 2")
    await expect(page.locator(".box.failed .received")).to_contain_text("3")
    await page.get_by_role("link", name="The answer against the reference").click()
    await expect(page.locator("#diff .old").first).to_contain_text("the reference")
    await expect(page.locator("#steps")).to_be_hidden()


async def test_an_error_leads_to_its_line_in_the_diff(browser: Any, served: Any) -> None:
    page = await browser.visit(served.result(INDEX))
    await page.get_by_role("link", name="This line in the diff").click()
    line = page.locator("li:target")
    await expect(line).to_be_in_viewport()
    await expect(line).to_contain_text("export const index = count.nothing;")
    await page.reload()
    await expect(line).to_be_in_viewport()


async def test_an_open_page_follows_a_run_until_it_ends_without_being_loaded_again(browser: Any, served: Any) -> None:
    run_id = served.record.begin("live")
    page = await browser.visit(served.of_run(run_id))
    await page.evaluate("window.sameDocument = true")
    row = page.get_by_role("row", name="000-first")
    served.record.attempt(run_id, FIRST)
    await expect(row).to_contain_text("passed")
    served.record.attempt(run_id, SECOND, passes=False)
    await expect(page.get_by_role("row", name="001-second")).to_contain_text("failed")
    served.record.store.finish_run(run_id, "stopped")
    await expect(page.locator(".head")).to_contain_text("interrupted")
    await expect(page.locator("[data-live]")).to_have_count(0)
    assert await page.evaluate("window.sameDocument")


async def test_what_happened_before_anybody_listened_is_shown(browser: Any, served: Any) -> None:
    """An attempt ends between the answer to the page and the connection for events."""
    run_id = served.record.begin("early")
    page = await browser.page()

    async def record_first(route: Any) -> None:
        served.record.attempt(run_id, FIRST)
        await route.continue_()

    await page.route("**/api/v1/events*", record_first)
    await page.goto(served.of_run(run_id))
    await expect(page.get_by_role("row", name="000-first")).to_contain_text("passed")
    served.record.store.finish_run(run_id, "stopped")


async def test_back_and_reload_restore_the_tab(browser: Any, served: Any) -> None:
    page = await browser.visit(served.result())
    for name, title in (("diff", "Diff"), ("prompt", "Prompt")):
        await _tab(page, title).click()
        await expect(page).to_have_url(re.compile(rf"tab={name}$"))
    await page.reload()
    await expect(page.locator("#prompt")).to_be_visible()
    await page.go_back()
    await expect(page.locator("#diff")).to_be_visible()
    await expect(page.locator("#prompt")).to_be_hidden()
    await page.go_back()
    await expect(page.locator("#steps")).to_be_visible()


async def test_the_diff_is_side_by_side_or_inline_and_the_address_says_which(browser: Any, served: Any) -> None:
    page = await browser.visit(served.result() + "?tab=diff")
    await page.get_by_role("link", name="inline").click()
    await expect(page).to_have_url(re.compile("diff=inline"))
    await page.reload()
    await expect(page.locator(".diff.inline")).to_be_visible()


async def test_the_address_has_the_file_that_was_opened(browser: Any, served: Any) -> None:
    page = await browser.visit(served.result() + "?tab=files")
    file = page.locator('#files details[data-file="convex/index.ts"]')
    await file.locator("summary").click()
    await expect(page).to_have_url(re.compile("tab=files$"))
    await file.locator("summary").click()
    await expect(page).to_have_url(re.compile("file=convex%2Findex.ts$"))
    await page.reload()
    await expect(file).to_have_attribute("open", "")
    await expect(file.locator("summary")).to_be_in_viewport()


async def test_evals_are_looked_at_by_tag_and_by_difficulty(browser: Any, ranked: Any) -> None:
    page = await browser.visit(f"{ranked.origin}/eval/{SECOND}")
    await expect(page.get_by_role("link", name="hard")).to_have_attribute("title", "difficulty, by author")
    await page.get_by_role("link", name="contention").click()
    await expect(page).to_have_url(re.compile(r"/matrix\?tag=contention$"))
    rows = page.locator("main tbody tr")
    await expect(rows).to_have_count(2)
    await page.get_by_label("Evals with the tag").select_option("easy")
    await expect(page).to_have_url(re.compile(r"/matrix\?tag=easy$"))
    await expect(rows).to_have_count(2)
    await page.get_by_role("link", name="tag: easy").click()
    await expect(rows).to_have_count(3)
    await page.goto(f"{ranked.origin}/leaderboard")
    await expect(page.get_by_role("group", name="By tag").get_by_role("row", name="hard")).to_contain_text("0%")


async def test_ticked_runs_are_compared_and_a_flipped_eval_is_opened(browser: Any, served: Any) -> None:
    page = await browser.visit(served.at("/runs"))
    for run_id in (served.passed, served.failed):
        await page.locator(f'input[name=runs][value="{run_id}"]').check()
    await page.get_by_role("button", name="Compare the ticked runs").click()
    await expect(page).to_have_url(re.compile(r"/compare\?runs=[^&]+,[^&]+$"))
    await expect(page.get_by_role("main")).to_contain_text(SECOND)
    await page.locator("main tbody").get_by_role("link", name="failed").first.click()
    await expect(page.locator(".head")).to_contain_text("failed")


async def test_a_filter_is_in_the_address_and_can_be_removed(browser: Any, served: Any) -> None:
    page = await browser.visit(served.at("/runs"))
    await page.get_by_label("model", exact=True).select_option("hostile")
    await expect(page).to_have_url(re.compile(r"/runs\?model=hostile$"))
    await expect(page.locator("main tbody tr")).to_have_count(1)
    await page.get_by_role("link", name="remove this filter").click()
    await expect(page).to_have_url(re.compile("/runs$"))


async def test_a_labelled_failure_is_in_the_next_report_whose_links_lead_to_results(browser: Any, served: Any) -> None:
    page = await browser.visit(served.result(INDEX) + "?tab=why")
    await page.get_by_label("Class").select_option("AMBIGUOUS_TASK")
    await page.get_by_label("Why", exact=True).fill("It made the property up.")
    await page.get_by_label("Your name").fill("Ada")
    await page.get_by_role("button", name="Label this failure").click()
    await expect(page.locator("#why .rows")).to_contain_text("It made the property up.")
    await expect(page.locator("#why .rows")).to_contain_text("Ada")
    await _analyze(served)
    await page.get_by_role("link", name="Reports").click()
    await page.get_by_role("link", name=re.compile(rf"^{served.failed[:8]}_")).click()
    await expect(page.get_by_role("row", name=INDEX)).to_contain_text("AMBIGUOUS_TASK")
    await expect(page.get_by_role("row", name=SECOND)).not_to_contain_text("AMBIGUOUS_TASK")
    await page.get_by_role("row", name=INDEX).get_by_role("link", name=INDEX).click()
    await expect(page).to_have_url(re.compile(rf"/run/{served.failed}/{INDEX}$"))
    await expect(page.locator(".head .badge")).to_have_text("AMBIGUOUS_TASK")
    await _tab(page, "Why").click()
    await expect(page.locator("#why dl")).to_contain_text("by Ada")


async def _analyze(served: Any) -> None:
    """What someone types in a terminal while the pages are open."""
    folder = served.record.folder
    options = ["--scores", folder / "scores.db", "--evals", folder / "evals", "--reports", folder / "reports"]
    words = ["analyze", served.failed, "--engine", "rules", "--no-probe", *map(str, options)]
    assert await asyncio.to_thread(main.run, words) == 0


async def test_the_theme_is_switched_and_stays(browser: Any, served: Any) -> None:
    page = await browser.visit(served.at("/runs"), color_scheme="light")
    await page.get_by_role("button", name="Dark theme").click()
    await page.goto(served.at())
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await expect(page.get_by_role("button", name="Dark theme")).to_have_attribute("aria-pressed", "true")


def _tab(page: Page, title: str) -> Any:
    return page.get_by_role("navigation", name="Parts of this page").get_by_role("link", name=title)
