"""axe-core finds nothing on any page against WCAG 2.2 AA, in light and dark, wide and narrow."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import PackageSet, PackageStore, find_node

AXE = Path(__file__).parents[2] / "toolchain/axe"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
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


async def test_axe_finds_nothing_on_any_page_wide_and_light_or_narrow_and_dark(
    browser: Any, served: Any, axe: str
) -> None:
    """Every other page this way and that; they are made of the same parts."""
    pages = [await _window(browser, "light", 1440), await _window(browser, "dark", 360)]
    found = {}
    for number, (name, address) in enumerate(_addresses(served).items()):
        page = pages[number % 2]
        await page.goto(address)
        found[name] = await _violations(page, axe)
    assert "404" in " ".join(browser.take_complaints())
    assert {name: complaints for name, complaints in found.items() if complaints} == {}


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
    await page.evaluate(axe)
    found: list[str] = await page.evaluate(CHECK, RULES)
    return found
