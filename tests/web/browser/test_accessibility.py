"""Every page, wide and narrow, in light and dark: axe-core finds nothing against WCAG 2.2 AA, nothing sticks out."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import PackageSet, PackageStore, find_node

AXE = Path(__file__).parents[2] / "toolchain/axe"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WIDTHS = (360, 1024, 1440)  # a small phone, a small laptop, a large screen
OVERFLOW = """() => [...document.querySelectorAll('body *')].filter((each) => {
    const box = each.getBoundingClientRect();
    return box.width > 1 && box.right > innerWidth + 1 && !each.closest('.table-wrap, .chart-scroll, pre');
}).map((each) => `${each.tagName} ${each.className}`).slice(0, 5)"""
CHECK = """async (tags) => {
    const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ["violations"] });
    return violations.flatMap((each) => each.nodes.map((node) => `${each.id} ${node.target} ${node.failureSummary}`));
}"""


@pytest.fixture(scope="module")
def axe() -> str:
    return asyncio.run(_source())


async def _source() -> str:
    settings = read_settings()
    store = PackageStore(settings.cache_folder / "tests", await find_node(settings), settings)
    packages = await store.install(PackageSet.from_folder(AXE, "axe"))
    return (packages.folder / "node_modules/axe-core/axe.min.js").read_text()


async def test_no_page_is_wider_than_its_window_and_axe_finds_nothing_on_it(
    browser: Any, served: Any, axe: str
) -> None:
    """axe looks at every other page on a large screen in light, and at the others on a small phone in dark: they are
    made of the same parts."""
    page = await _window(browser, "light", 1440)
    found, wide = {}, {}
    for name, path in served.pages.items():
        await page.goto(served.at(path))
        for width in WIDTHS if page.viewport_size["width"] == WIDTHS[0] else reversed(WIDTHS):
            await page.set_viewport_size({"width": width, "height": 800})
            if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide[name, width] = await page.evaluate(OVERFLOW)
        await page.emulate_media(color_scheme="dark" if width == WIDTHS[0] else "light")
        found[name] = await _violations(page, axe)
    assert "404" in " ".join(browser.take_complaints())
    await page.goto(served.result())
    for tab in await page.locator("[data-tabs] a").all():
        await tab.click()
        found[await tab.inner_text()] = await _violations(page, axe)
    assert len(found) > len(served.pages) + 5
    assert {name: complaints for name, complaints in found.items() if complaints} == {}
    assert wide == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 360), ("dark", 1440), ("light", 360)])
async def test_axe_finds_nothing_on_any_page(browser: Any, served: Any, axe: str, theme: str, width: int) -> None:
    page = await _window(browser, theme, width)
    found = {}
    for name, address in _addresses(served).items():
        await page.goto(address)
        found[name] = await _violations(page, axe)
    assert "404" in " ".join(browser.take_complaints())
    assert {name: complaints for name, complaints in found.items() if complaints} == {}


def _addresses(served: Any) -> dict[str, str]:
    """Every page, and every tab of a result."""
    tabs = {tab: f"{served.result()}?tab={tab}" for tab in ("diff", "files", "why", "task", "attempts")}
    return {name: served.at(path) for name, path in served.pages.items()} | tabs


async def _window(browser: Any, theme: str, width: int) -> Any:
    return await browser.page(color_scheme=theme, viewport={"width": width, "height": 800})


async def test_axe_would_find_a_picture_without_words(browser: Any, axe: str) -> None:
    page = await browser.page()
    await page.set_content("<!doctype html><html lang=en><title>A page</title><main><img src='data:,'></main>")
    assert "image-alt" in " ".join(await _violations(page, axe))


async def _violations(page: Any, axe: str) -> list[str]:
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(axe)
    found: list[str] = await page.evaluate(CHECK, RULES)
    return found
