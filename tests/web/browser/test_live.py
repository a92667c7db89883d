"""Pages that change while somebody reads them: what is new appears, and the reader's place stays."""

import time
from typing import Any

import pytest
from playwright.async_api import expect

from convex_evals.scores import Outcome

FIRST, SECOND, INDEX = "000-basics/000-first", "000-basics/001-second", "001-queries/000-index"
PLACE = """() => [...document.querySelectorAll("#evals a[data-open]")]
    .find((each) => each.textContent.includes("000-first")).getBoundingClientRect().top"""
LOW = {"width": 1440, "height": 300}


async def test_ticked_runs_stay_ticked_while_another_run_goes_on(browser: Any, served: Any) -> None:
    run_id = served.record.begin("ticked")
    page = await browser.visit(served.at("/runs"))
    boxes = [page.locator(f'input[value="{each}"]') for each in (served.passed, served.failed)]
    await boxes[0].check()
    await boxes[1].check()
    served.record.attempt(run_id, FIRST, passes=False)
    await expect(page.get_by_role("row", name="ticked")).to_contain_text("1 of 3")
    for box in boxes:
        await expect(box).to_be_checked()
    await expect(boxes[1]).to_be_focused()
    served.record.store.finish_run(run_id, "stopped")


async def test_a_result_fills_while_it_is_open_and_what_was_unfolded_stays_so(browser: Any, served: Any) -> None:
    run_id = served.record.begin("filling")
    page = await browser.visit(served.of_run(run_id, f"/{SECOND}?tab=diff"))
    await expect(page.locator("#diff .old")).to_have_count(0)
    served.record.attempt(run_id, SECOND, passes=False)
    await expect(page.locator("#diff .old").first).to_contain_text("the reference")
    await expect(page.locator("#steps")).to_be_hidden()
    served.record.store.finish_run(run_id, "stopped")


@pytest.mark.parametrize(("address", "place"), [("/", "[data-part=running] [data-row]"), ("/runs", "tbody tr")])
async def test_a_list_of_runs_follows_one_change_after_the_other(
    browser: Any, served: Any, address: str, place: str
) -> None:
    run_id = served.record.begin("steady")
    page = await browser.visit(served.at(address))
    row = page.locator(place).filter(has_text=run_id[:8])
    for number, name in enumerate((FIRST, SECOND, INDEX), 1):
        served.record.attempt(run_id, name, passes=False)
        await expect(row).to_contain_text(f"{number} of 3")
    served.record.store.finish_run(run_id, "stopped")


async def test_a_result_that_has_begun_is_followed_to_its_end(browser: Any, served: Any) -> None:
    run_id = served.record.begin("followed")
    page = await browser.visit(served.of_run(run_id, f"/{SECOND}"))
    begun = served.record.store.begin_attempt(run_id, SECOND)
    await expect(page.locator("[data-part=head]")).to_contain_text("running")
    for step in served.record.steps(passes=True):
        served.record.store.record_step(begun.id, step)
        await expect(page.locator("[data-part=steps]")).to_contain_text(step.name)
    served.record.store.finish_attempt(begun.id, Outcome("passed"))
    await expect(page.locator("[data-part=head]")).to_contain_text("passed")
    served.record.store.finish_run(run_id, "stopped")


async def test_unfolded_failures_and_the_line_in_sight_stay_where_they_are(browser: Any, served: Any) -> None:
    run_id = served.record.begin("reading")
    served.record.attempt(run_id, SECOND, passes=False)
    page = await browser.visit(served.of_run(run_id, "?tab=causes"), viewport=LOW)
    folded = page.locator("#causes details").first
    await folded.locator("summary").click()
    served.record.attempt(run_id, FIRST)
    await expect(page.locator("[data-part=facts]")).to_contain_text("1 passed")
    await expect(folded).not_to_have_attribute("open", "")
    await page.get_by_role("navigation", name="Parts of this page").get_by_role("link", name="Evals").click()
    await page.locator("#evals").get_by_role("link", name="000-first").evaluate("each => each.scrollIntoView()")
    before = await page.evaluate(PLACE)
    served.record.attempt(run_id, INDEX, passes=False)  # a failure, which is shown above what passed
    await expect(page.locator("[data-part=facts]")).to_contain_text("2 failed")
    await expect(page.locator("#evals").get_by_role("row", name="000-index")).to_contain_text("failed")
    assert abs(await page.evaluate(PLACE) - before) < 2
    served.record.store.finish_run(run_id, "stopped")


@pytest.mark.parametrize("refused", ["page", "stream"])
async def test_a_page_that_a_busy_server_refused_is_asked_for_again(browser: Any, served: Any, refused: str) -> None:
    run_id = served.record.begin("busy")
    address = served.of_run(run_id, f"/{SECOND}")
    page = await browser.visit("about:blank")
    if refused == "stream":
        await page.route("**/api/v1/events*", lambda route: route.fulfill(status=503), times=1)
    await page.goto(address)
    await expect(page.get_by_text("This eval has not begun yet.")).to_be_visible()
    if refused == "page":
        await page.route(address, lambda route: route.fulfill(status=503), times=3)
    served.record.attempt(run_id, SECOND, passes=False)
    await expect(page.get_by_text("This eval has not begun yet.")).to_be_hidden()
    served.record.store.finish_run(run_id, "stopped")
    assert all("503" in each for each in browser.take_complaints())


async def test_what_happens_before_the_server_has_looked_for_the_first_time_is_shown(
    browser: Any, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = served.record.store.changes
    run_id, count = served.record.begin("slow"), changes.count
    monkeypatch.setattr(changes, "count", lambda: (time.sleep(1.5), count())[1])
    page = await browser.visit("about:blank")
    async with page.expect_response("**/api/v1/events*"):
        await page.goto(served.of_run(run_id, f"/{SECOND}"))
    await page.wait_for_timeout(500)
    served.record.attempt(run_id, SECOND, passes=False)
    await expect(page.get_by_text("This eval has not begun yet.")).to_be_hidden()
    served.record.store.finish_run(run_id, "stopped")
