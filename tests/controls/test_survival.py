from dataclasses import replace
from pathlib import Path

from convex_evals.controls import Mutant, catch_rate, generate_mutants, share
from convex_evals.controls.survival import Survival, judge_mutants, read_equivalents
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import Status
from convex_evals.pipeline.types import Grade
from convex_evals.statistics import wilson_interval

MUTANTS = generate_mutants({"a.ts": "const x = a < b && c > d && e === f && 5;\n"})[:5]


def graded(*statuses: Status) -> dict[str, Grade]:
    return {mutant.id: Grade("000-a/000-b", status, ()) for mutant, status in zip(MUTANTS, statuses, strict=False)}


def judged(grades: dict[str, Grade], path: Path, mutants: tuple[Mutant, ...] = MUTANTS) -> Survival:
    known = {mutant.id for mutant in mutants}
    return judge_mutants([each for each in mutants if each.id in grades], grades, read_equivalents(path), known)


def test_a_mutant_is_caught_when_a_step_fails(tmp_path: Path) -> None:
    survival = judged(graded("failed", "failed", "failed", "passed", "infrastructure"), tmp_path / "missing.txt")
    assert (len(survival.killed), survival.total) == (3, 4)
    assert [each.mutant for each in survival.survivors] == [MUTANTS[3]]
    assert [each.mutant for each in survival.without_verdict] == [MUTANTS[4]]
    assert share([survival]) == 3 / 4
    assert share([]) is None


def test_the_catch_rate_is_the_mean_over_evals_with_an_interval(tmp_path: Path) -> None:
    half = judged(graded("failed", "passed"), tmp_path / "missing.txt")
    whole = judged(graded("failed", "failed"), tmp_path / "missing.txt")
    alone = catch_rate({"a": half})
    assert alone is not None and (alone.value, alone.method, alone.trials) == (0.5, "Wilson", 2)
    assert alone.interval == half.interval == wilson_interval(1, 2)
    both = catch_rate({"a": half, "b": whole})
    assert both is not None and (both.value, both.method, both.evals) == (0.75, "t over evals", 2)
    assert catch_rate({}) is None


def test_known_equivalents_count_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "equivalent.txt"
    path.write_text(f"# Known.\n\n{MUTANTS[0].id} It is the same.\n")
    survival = judged(graded("passed", "failed"), path)
    assert (len(survival.killed), survival.total, survival.survivors) == (1, 1, ())
    assert [each.equivalent for each in survival.equivalent] == ["It is the same."]
    assert survival.problems == ()


def test_wrong_equivalents_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "equivalent.txt"
    path.write_text(f"{MUTANTS[0].id} Not really.\n00000000 Long ago.\n{MUTANTS[1].id}\n{MUTANTS[0].id} Again.\n")
    grades = graded("failed", "passed")
    steps, tests = (StepResult("tests", "failed"),), ("test_counts", "test_sums")
    failed = replace(grades[MUTANTS[0].id], steps=steps, failed_tests=tests)
    found = [str(problem) for problem in judged({**grades, MUTANTS[0].id: failed}, path).problems]
    assert len(found) == 4
    assert f"line 3 is '{MUTANTS[1].id}'" in found[0]
    assert f"line 4 is '{MUTANTS[0].id} Again.'" in found[1]
    assert "00000000 is no mutant of the answer any more; remove the line." in found[2]
    assert f"{MUTANTS[0].id} is not equivalent: it fails at tests (in test_counts, test_sums)" in found[3]


def test_an_equivalent_that_was_not_graded_this_time_is_not_stale(tmp_path: Path) -> None:
    path = tmp_path / "equivalent.txt"
    path.write_text(f"{MUTANTS[4].id} It is the same.\n")
    assert judged(graded("failed"), path).problems == ()
