"""The step `eslint`, when a linter does not do its work."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from convex_evals.pipeline.lint import step as module
from convex_evals.pipeline.lint.step import LintAccident
from convex_evals.pipeline.typecheck.checked import Area, CheckedCopy


async def test_no_area_is_linted_any_more_when_an_accident_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    async def lint_area(step: Any, eval: Any, checked: Any, area: Area, linter: Any) -> list[Any]:
        if area.name == "convex":
            raise LintAccident("tool-crashed", None)  # type: ignore[arg-type]
        await asyncio.sleep(0.01)
        ended.append(area.name)
        return []

    monkeypatch.setattr(module, "_lint_area", lint_area)
    checked = CheckedCopy(Path("/"), (Area("convex", "convex", ""), Area("src", "src", "")), ())
    with pytest.raises(LintAccident):
        await module._lint_areas(None, None, checked, "oxlint")  # type: ignore[arg-type]
    assert ended == ["src"]
