"""Draws pages as PNG files: `draw-pages.py DEMO GENERATED DOCS`. See scripts/screenshots.

DEMO is a folder in which the demo was run; GENERATED names a database that is filled with generated runs.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from convex_evals.core.browser import FLAGS, find_chromium
from convex_evals.core.http import LoopbackServer
from convex_evals.core.settings import read_settings
from convex_evals.scores import ScoresStore
from convex_evals.suite import load_suite, own_suite
from convex_evals.web import Site, create_app

SIZE = {"width": 1280, "height": 720}
FAILURE = "002-queries/014-select_distinct"
RUNS = 60


async def draw(demo: Path, generated: Path, docs: Path) -> None:
    suite = load_suite(own_suite())
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(
            executable_path=find_chromium(read_settings()), args=[*FLAGS], chromium_sandbox=os.geteuid() != 0
        )
        with ScoresStore.open(demo / "scores" / "scores.db") as store:
            site = Site(store, suite=suite, reports=demo / "reports")
            await _draw(chromium, site, pages_of_demo(store), docs)
        with ScoresStore.open(generated) as store:
            store.fill_with_generated_runs([each.id for each in suite.evals], RUNS)
            site = Site(store, "generated", suite=suite, reports=demo / "none")
            await _draw(chromium, site, {"leaderboard": "/leaderboard"}, docs)
        await chromium.close()


def pages_of_demo(store: ScoresStore) -> dict[str, str]:
    whole = [run for run in store.runs() if FAILURE in {each.eval for each in store.planned(run.id)}]
    newest = {run.model: run for run in reversed(whole)}
    apprentice, expert = newest["sample/apprentice"], newest["sample/expert"]
    run = f"/experiment/{apprentice.experiment}/run/{apprentice.id}"
    compare = f"/compare?runs={apprentice.id},{expert.id}"
    return {"run": run, "result": f"{run}/{FAILURE}?tab=diff", "compare": compare}


async def _draw(chromium: Browser, site: Site, pages: Mapping[str, str], docs: Path) -> None:
    page = await chromium.new_page(viewport=SIZE, color_scheme="light", timezone_id="UTC")
    page.set_default_timeout(120_000)
    async with LoopbackServer() as server:
        await server.start(create_app(site))
        for name, path in pages.items():
            await page.goto(server.origin + path)
            await page.screenshot(path=docs / f"page-{name}.png")
    await page.close()


if __name__ == "__main__":
    asyncio.run(draw(*map(Path, sys.argv[1:4])))
