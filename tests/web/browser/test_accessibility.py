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


OTHERWISE = (
    pytest.param("dark", 1440, marks=pytest.mark.exhaustive),
    pytest.param("light", 360, marks=pytest.mark.exhaustive),
)


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 360), *OTHERWISE])
async def test_axe_finds_nothing_on_any_page(browser: Any, served: Any, axe: str, theme: str, width: int) -> None:
    page = await browser.page(color_scheme=theme, viewport={"width": width, "height": 800})
    found = {}
    for name, path in served.pages.items():
        await page.goto(served.at(path))
        found[name] = await _violations(page, axe)
    for tab in ("diff", "files", "why", "task", "attempts"):
        await page.goto(f"{served.result()}?tab={tab}")
        found[tab] = await _violations(page, axe)
    assert "404" in " ".join(browser.take_complaints())
    assert {name: complaints for name, complaints in found.items() if complaints} == {}


async def test_axe_would_find_a_picture_without_words(browser: Any, axe: str) -> None:
    page = await browser.page()
    await page.set_content("<!doctype html><html lang=en><title>A page</title><main><img src='data:,'></main>")
    assert "image-alt" in " ".join(await _violations(page, axe))


async def _violations(page: Any, axe: str) -> list[str]:
    await page.evaluate(axe)
    found: list[str] = await page.evaluate(CHECK, RULES)
    return found
