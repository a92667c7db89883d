"""`analyze score`: how well an engine agrees with a labelled set."""

import asyncio
import sys
from pathlib import Path

from convex_evals.analysis.classification import Analyst, Engine, EngineChoice, choose_engine
from convex_evals.analysis.scoring import LabelledCase, Score, read_cases, score_engine, score_json, score_lines
from convex_evals.analysis.surface import read_surface
from convex_evals.cli.output import remark, visible, write_json
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.toolchain import prepare_toolchain


def score_labels(labels: Path, choice: EngineChoice, analyst: Analyst, json: str | None) -> None:
    settings = read_settings()
    cases = read_cases(labels)
    score = asyncio.run(_score(cases, choose_engine(choice, settings, analyst), settings))
    out = sys.stderr if json == "-" else sys.stdout
    for line in score_lines(score):
        print(visible(line), file=out)
    if json is not None:
        write_json(score_json(score), json)


async def _score(cases: tuple[LabelledCase, ...], engine: Engine, settings: Settings) -> Score:
    toolchain = await prepare_toolchain(settings, remark)
    surface = await read_surface(toolchain.packages.package("convex"), toolchain, settings)
    return await score_engine(cases, engine, surface)
