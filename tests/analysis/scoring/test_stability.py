"""Verdicts do not rest on words: said otherwise, a case is classified as before."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from tests.analysis.perturbations import PERTURBATIONS, Perturbation, own_names

from convex_evals.analysis.classification import RulesEngine
from convex_evals.analysis.scoring import LabelledCase, case_evidence, read_cases
from convex_evals.analysis.surface import Surface

LABELLED = Path(__file__).parents[1] / "labelled"
REPORTED = ("written", "report", "reported", "first-sight", "first-sight-2")
SETS = (*REPORTED, "development", "test")
LATEST = ("first-sight-3", "first-sight-4")
_known: dict[str, str] = {}
SOME, FEW = 6, 24
"""The quick test takes every sixth case, and of the sets that we graded every 24th: their files take long to
compare."""


@cache
def cases_of(name: str) -> tuple[Sequence[LabelledCase], Mapping[str, Mapping[str, str]]]:
    cases = read_cases(LABELLED / f"{name}.json")
    return cases, own_names(cases)


async def changed_verdicts(perturb: Perturbation, name: str, surface: Surface, step: int) -> list[str]:
    cases, names = cases_of(name)
    return [
        f"{case.id}: {before} became {after}"
        for case in cases[::step]
        for other in (perturb(case, names[case.eval]),)
        if other != case
        if (before := await first_verdict(case, surface)) != (after := await verdict(other, surface))
    ]


async def verdict(case: LabelledCase, surface: Surface) -> str:
    return (await RulesEngine().classify(case_evidence(case, surface))).failure_class


async def first_verdict(case: LabelledCase, surface: Surface) -> str:
    """On the case as it is, once for all perturbations."""
    key = f"{case.eval} {case.id}"  # two sets may number their cases alike
    if key not in _known:
        _known[key] = await verdict(case, surface)
    return _known[key]


def few(changed: Sequence[str], most: int) -> None:
    assert len(changed) <= most, "\n".join(changed)


@pytest.mark.parametrize("perturb", PERTURBATIONS, ids=lambda each: each.__name__)
async def test_the_same_case_in_other_words_has_the_same_class(perturb: Perturbation, surface: Surface) -> None:
    for name in SETS:
        few(await changed_verdicts(perturb, name, surface, SOME if name in REPORTED else FEW), 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("perturb", PERTURBATIONS, ids=lambda each: each.__name__)
async def test_nearly_every_case_in_other_words_has_the_same_class(perturb: Perturbation, surface: Surface) -> None:
    """A name that only one of our evals has may still be one of Convex, so two may change."""
    for name in (*SETS, *LATEST):
        few(await changed_verdicts(perturb, name, surface, 1), 0 if name in REPORTED else 2)
