"""What people take for granted: copying, printing, heads that stay, addresses that keep what was chosen."""

import re
from typing import Any

from playwright.async_api import expect

SECOND, INDEX = "000-basics/001-second", "001-queries/000-index"
LOW = {"width": 1440, "height": 160}
BLOCKING = """() => performance.getEntriesByType("resource")
    .filter((each) => each.renderBlockingStatus === "blocking").map((each) => new URL(each.name).pathname)"""


async def test_ids_links_commands_and_failing_tests_are_copied_whole(browser: Any, served: Any) -> None:
    page = await browser.visit(served.result(), permissions=["clipboard-read", "clipboard-write"])

    async def copied(name: str) -> str:
        await page.get_by_role("button", name=name).first.click()
        await expect(page.locator("[data-copied]").first).to_be_visible()
        text: str = await page.evaluate("navigator.clipboard.readText()")
        return text

    assert await copied("Copy link") == served.result()
    assert await copied("Copy run command") == f"convex-evals run -m tiny -f '^{SECOND}$'"
    assert await copied("Copy the name of the test") == "counts"
    await page.goto(served.at("/runs"))
    assert await copied("Copy the id of the run") == served.hostile  # the newest


async def test_on_paper_there_is_all_of_a_result_and_nothing_to_click(browser: Any, served: Any) -> None:
    page = await browser.visit(served.result())
    await page.emulate_media(media="print")
    for part in (".header", ".tabs", ".actions", ".footer"):
        await expect(page.locator(part).first).to_be_hidden()
    for panel in ("steps", "diff", "files", "why", "task", "prompt", "response", "attempts"):
        box = await page.locator(f"#{panel} > .panel-title").bounding_box()
        assert box and box["height"] > 10, f"{panel} has no heading"
    await page.goto(served.at("/graders"))
    wrap = page.locator(".table-wrap").last
    assert await wrap.evaluate("each => [each.scrollHeight - each.clientHeight, getComputedStyle(each).maxHeight]") == [
        0,
        "none",
    ]


async def test_the_header_of_a_table_stays_while_it_is_scrolled(browser: Any, served: Any) -> None:
    page = await browser.visit(served.at("/runs"), viewport=LOW)
    await page.locator("main thead").evaluate("each => scrollTo(0, each.getBoundingClientRect().top + 30)")
    assert await page.evaluate("scrollY") > 30
    assert await page.locator("main thead th").first.evaluate("each => each.getBoundingClientRect().top") == 0


async def test_the_head_of_a_table_that_is_wider_than_the_window_stays_too(browser: Any, served: Any) -> None:
    page = await browser.visit(served.at("/runs"), viewport={"width": 800, "height": 100})
    wrap = page.locator(".table-wrap").first
    await wrap.evaluate("each => each.scrollTo(20, 15)")
    assert await wrap.evaluate("each => [each.scrollLeft, each.scrollTop]") == [20, 15]
    tops = await wrap.evaluate("each => [each, each.querySelector('th')].map((one) => one.getBoundingClientRect().top)")
    assert tops[0] == tops[1]


async def test_a_page_is_painted_after_two_requests(browser: Any, served: Any) -> None:
    page = await browser.page()
    for path in ("/", "/leaderboard", f"/experiment/default/run/{served.failed}/{SECOND}"):
        await page.goto(served.at(path))
        assert [each.rpartition("/")[2] for each in await page.evaluate(BLOCKING)] == ["site.css"]


async def test_the_tab_stays_when_the_next_failure_is_opened(browser: Any, served: Any) -> None:
    page = await browser.visit(served.result())
    await page.get_by_role("navigation", name="Parts of this page").get_by_role("link", name="Response").click()
    await page.keyboard.press("]")
    await expect(page).to_have_url(re.compile(rf"{INDEX}\?tab=response$"))
    await expect(page.locator("#response")).to_be_visible()


async def test_the_order_stays_when_another_version_or_experiment_is_chosen(browser: Any, ranked: Any) -> None:
    page = await browser.visit(f"{ranked.origin}/leaderboard?q=a")
    await page.get_by_role("button", name="Cost", exact=True).click()
    await page.get_by_role("link", name="v1", exact=True).click()
    await expect(page).to_have_url(re.compile(r"/leaderboard\?benchmark=v1&q=a&sort=cost$"))
    await page.get_by_role("link", name="Show all").click()
    await expect(page).to_have_url(re.compile(r"/leaderboard\?benchmark=v1&sort=cost$"))
    await page.goto(f"{ranked.origin}/matrix?order=failing&sort=-eval")
    await page.get_by_role("link", name="without guidelines").click()
    await expect(page).to_have_url(re.compile(r"/matrix\?experiment=no_guidelines&order=failing&sort=-eval$"))


async def test_a_filter_of_runs_keeps_the_others_and_the_order(browser: Any, served: Any) -> None:
    page = await browser.visit(served.at("/runs?provider=acme&sort=-rate"))
    await page.get_by_label("model", exact=True).select_option("tiny")
    await expect(page).to_have_url(re.compile(r"/runs\?model=tiny&provider=acme&sort=-rate$"))
    await page.get_by_role("link", name="provider: acme").click()
    await expect(page).to_have_url(re.compile(r"/runs\?model=tiny&sort=-rate$"))


async def test_the_keyboard_alone_leads_from_home_to_the_line_of_the_diff(browser: Any, served: Any) -> None:
    page = await browser.visit(served.at())
    failing = page.locator("[data-part=failing] a[data-open]").filter(has_text="000-index")
    for _ in range(20):
        await page.keyboard.press("j")
        if await failing.evaluate("each => each === document.activeElement"):
            break
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(f"{INDEX}$"))
    await page.get_by_role("link", name="This line in the diff").press("Enter")
    await expect(page.locator("li:target")).to_be_in_viewport()


async def test_every_table_is_csv_and_json_at_its_address_and_every_chart_a_table(browser: Any, served: Any) -> None:
    client = (await browser.page()).request
    for name, path in served.pages.items():
        text = await (await client.get(served.at(path))).text()
        assert text.count('class="figure-chart"') == text.count("The same as a table") + (name == "matrix")
        if '<table class="table' not in text or name in ("home", "api"):  # those of home are parts of /runs
            continue
        address, _, query = path.partition("?")
        for suffix, kind in ((".csv", "text/csv"), (".json", "application/json")):
            named = await client.get(served.at(f"{address}{suffix}?{query}"))
            chosen = await client.get(served.at(path), headers={"accept": kind})
            for answer in (named, chosen):
                assert (name, answer.headers["content-type"].partition(";")[0]) == (name, kind)
