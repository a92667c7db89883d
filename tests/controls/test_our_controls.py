"""The controls in this repository: all of them are read.

`convex-evals test --all` grades them, and so does `convex-evals controls`; those of a new eval are always graded, in
`cli/test_new_eval.py`.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.controls import controls_folder, generate_mutants, load_controls, strays
from convex_evals.controls.survival import FILE_NAME, read_equivalents
from convex_evals.core.distribution import checkout_root
from convex_evals.suite import Eval, Suite, load_suite, read_answer

PROGRAM = Path(sys.executable).parent / "convex-evals"
CHECKOUT = checkout_root()
assert CHECKOUT is not None
FOLDER = controls_folder(CHECKOUT / "evals")
SUITE: Suite = load_suite(CHECKOUT / "evals")
LEAST_WRONG, LEAST_ALTERNATIVES = 3, 1


def check(folder: Path, *arguments: str) -> list[str]:
    """What `convex-evals controls` complains about."""
    written = folder / "controls.json"
    subprocess.run([PROGRAM, "controls", "--json", written, *arguments], cwd=CHECKOUT, capture_output=True)
    found = json.loads(written.read_text())
    evals = [f"{each['eval']}: {said}" for each in found["evals"] for said in each["complaints"] + each["problems"]]
    return [*found["problems"], *evals]


@pytest.mark.parametrize("each", SUITE.evals, ids=lambda each: each.id)
def test_an_eval_has_controls_that_fit_its_answer_and_its_grader(each: Eval) -> None:
    found = load_controls(FOLDER, each, read_answer(each, SUITE.settings.answer_files))
    assert not [str(problem) for problem in found.problems]
    kinds = [control.kind for control in found.controls]
    assert kinds.count("wrong") >= LEAST_WRONG
    assert kinds.count("alternative") >= LEAST_ALTERNATIVES


@pytest.mark.exhaustive
@pytest.mark.parametrize("each", SUITE.evals, ids=lambda each: each.id)
def test_mutants_that_are_called_equivalent_are_still_mutants(each: Eval) -> None:
    equivalents = read_equivalents(FOLDER / each.category / each.name / FILE_NAME)
    assert not equivalents.problems
    if equivalents.reasons:
        known = {mutant.id for mutant in generate_mutants(read_answer(each, SUITE.settings.answer_files))}
        assert not set(equivalents.reasons) - known


def test_all_controls_belong_to_an_eval() -> None:
    assert not strays(FOLDER, SUITE)


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("category", sorted({each.category for each in SUITE.evals}))
def test_every_grader_tells_right_from_wrong(tmp_path: Path, category: str) -> None:
    assert check(tmp_path, "--category", category) == []
