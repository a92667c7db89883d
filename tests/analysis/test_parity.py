"""The reference goes through the same check, and so does the answer with nothing but other configuration."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from convex_evals.analysis.evidence import Evidence, Parity
from convex_evals.analysis.isolation import Bound, BoundReached, Outcome, open_probes
from convex_evals.analysis.parity import examine_parity, with_configuration
from convex_evals.core.settings import Settings
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline import GradingOptions
from convex_evals.suite import Suite, read_answer

CODE, OTHER = {"convex/a.ts": "model"}, {"convex/a.ts": "reference"}
BARE, FULL = {"package.json": "{}"}, {"package.json": '{"devDependencies": {}}'}


def failing(step: StepName = "tsc") -> Evidence:
    return Evidence(failed_step=step, files={**CODE, **BARE}, answer={**OTHER, **FULL})


def test_only_configuration_is_swapped() -> None:
    files = {"convex/a.ts": "model", "vite.config.ts": "mine", "package.json": "{}", "extra.json": "{}"}
    reference = {"convex/a.ts": "reference", "vite.config.ts": "theirs", "package.json": "full", "tsconfig.json": "{}"}
    assert with_configuration(files, reference) == {
        "convex/a.ts": "model",
        "vite.config.ts": "theirs",
        "package.json": "full",
        "tsconfig.json": "{}",
    }


async def test_a_step_that_only_the_configuration_breaks_is_recognised() -> None:
    async def try_files(files: Mapping[str, str]) -> Outcome:
        return Outcome(passed=files["package.json"] == FULL["package.json"])

    assert await examine_parity(failing(), try_files) == Parity((), configuration_cures=True)


async def test_a_reference_that_fails_says_with_what() -> None:
    async def try_files(files: Mapping[str, str]) -> Outcome:
        return Outcome(passed=False, complaints=("type:TS1",))

    assert await examine_parity(failing(), try_files) == Parity(("type:TS1",))


async def test_what_is_not_tried_is_not_known() -> None:
    async def try_files(files: Mapping[str, str]) -> Outcome:
        raise BoundReached

    assert await examine_parity(failing(), try_files) is None
    assert await examine_parity(Evidence(failed_step="tsc"), try_files) is None


async def test_the_reference_is_really_graded_and_the_outcome_is_kept(
    settings: Settings, hello_suite: Suite, tmp_path: Path
) -> None:
    asked = hello_suite.evals[0]
    evidence = Evidence(failed_step="tests", files={"hello.txt": "no"}, answer=read_answer(asked, ("**/*",)))
    async with open_probes(settings, tmp_path / "probes", f"of {tmp_path}", 1) as probes:
        for seconds in (60, 0):
            try_files = partial(probes.try_files, asked, "tests", GradingOptions(), Bound(seconds))
            assert await examine_parity(evidence, try_files) == Parity(())
        wrong = await probes.try_files(asked, "tests", GradingOptions(), Bound(60), {"hello.txt": "no"})
        assert wrong is not None
        assert not wrong.passed
        assert wrong.complaints
