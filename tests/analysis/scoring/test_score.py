"""Agreement with people: the labelled sets that we have, and the figures that come out."""

import json
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.perturbations import as_reported
from tests.examples import exhaustively

from convex_evals.analysis.classification import Classification, RulesEngine
from convex_evals.analysis.classification.types import EngineName
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.scoring import (
    LabelledCase,
    Score,
    area_under_curve,
    read_cases,
    score_engine,
    score_json,
    score_lines,
)
from convex_evals.analysis.surface import Surface
from convex_evals.core.errors import UsageError
from convex_evals.core.verdicts import FailureClass
from convex_evals.suite import load_suite

LABELLED = Path(__file__).parents[1] / "labelled"
_known: dict[str, Score] = {}


async def score_of(name: str, surface: Surface) -> Score:
    """Of `rules` on one of our sets, once for all tests."""
    if name not in _known:
        _known[name] = await score_engine(read_cases(LABELLED / f"{name}.json"), RulesEngine(), surface)
    return _known[name]


@pytest.mark.parametrize(
    ("name", "total", "least"),
    [
        ("report", 19, 17),
        ("written", 66, 63),
        ("reported", 101, 88),
        ("first-sight", 99, 85),
        ("first-sight-2", 61, 56),
        ("first-sight-3", 40, 36),
        ("first-sight-4", 24, 21),
        *exhaustively(("development", 151, 142)),
        ("test", 154, 131),
    ],
)
async def test_the_rules_agree_with_human_labels(name: str, total: int, least: int, surface: Surface) -> None:
    score = await score_of(name, surface)
    assert len(score.results) == total
    assert score.agree >= least, "\n".join(score_lines(score))
    assert score.agreement > score.baseline().agreement
    assert score.macro_f1 > score.baseline().macro_f1


async def test_the_test_half_meets_the_goals(surface: Surface) -> None:
    score = await score_of("test", surface)
    assert score.agreement >= 0.85
    assert score.macro_f1 >= 0.65
    assert score.fault_agreement >= 0.85
    assert score.calibration_error <= 0.08


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "least"), [("development", 0.9), ("test", 0.8)])
async def test_with_no_more_than_a_report_has_most_verdicts_stay_right(
    name: str, least: float, surface: Surface
) -> None:
    """An error, two snippets, the task and the gaps: no files, no grader, no other steps, nothing tried."""
    cases = [as_reported(case) for case in read_cases(LABELLED / f"{name}.json")]
    score = await score_engine(cases, RulesEngine(), surface)
    assert score.agreement >= least, "\n".join(score_lines(score))
    assert score.agreement > score.baseline().agreement
    assert score.macro_f1 > 0.6


async def test_confidence_tells_right_from_wrong_on_cases_with_little_evidence(surface: Surface) -> None:
    assert (await score_of("reported", surface)).separation > 0.6


def test_the_graded_cases_are_many_and_split_by_eval() -> None:
    development, test = (read_cases(LABELLED / f"{name}.json") for name in ("development", "test"))
    assert len(development) + len(test) >= 200
    assert not {case.eval for case in development} & {case.eval for case in test}
    both = (*development, *test)
    assert all(case.diagnostics and case.task and case.files and case.steps and case.parity for case in both)
    classes = Counter(case.failure_class for case in both)
    assert 0.65 < classes["MODEL_FAULT"] / len(both) < 0.8, "about as in real runs"
    assert classes["OVERLY_STRICT"] >= 25
    assert classes["AMBIGUOUS_TASK"] >= 15


def test_every_answer_that_was_written_for_the_sets_is_in_them() -> None:
    suite = load_suite(LABELLED / "suite")
    assert not suite.problems
    planned = tomllib.loads((LABELLED / "plan.toml").read_text())["own"]
    assert {each["eval"] for each in planned} == {eval.id for eval in suite.evals}
    graded = {case["id"]: case for name in ("development", "test") for case in plain_cases(name)}
    for each in planned:
        case = graded[f"{each['eval']} {each['name']}"]
        assert case.get("labels", {}).get("author", case["class"]) == each["class"]


def plain_cases(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((LABELLED / f"{name}.json").read_bytes())["cases"]
    return cases


def test_a_label_is_what_all_said_or_what_was_settled() -> None:
    read = [case for case in plain_cases("test") if "labels" in case]
    assert len(read) == 60, "so many were labelled by somebody who knew neither our label nor the engine's"
    for case in read:
        said = set(case["labels"].values())
        assert said == {case["class"]} or (len(said) > 1 and case["settled"])


class Parrot:
    """Says of every case what it was told to."""

    name: EngineName = "rules"

    def __init__(self, classes: Sequence[FailureClass]) -> None:
        self._classes = list(classes)

    async def classify(self, evidence: Evidence) -> Classification:
        return Classification(self._classes.pop(0), 1.0, "summary", "reasoning")


async def scored(labels: Sequence[FailureClass], said: Sequence[FailureClass]) -> Score:
    cases = [LabelledCase(id=str(n), failed_step="tests", failure_class=each) for n, each in enumerate(labels)]
    return await score_engine(cases, Parrot(said), None, jobs=1)


async def test_the_figures_are_those_of_the_textbook() -> None:
    score = await scored(
        ["MODEL_FAULT", "MODEL_FAULT", "MODEL_FAULT", "KNOWN_GAP"],
        ["MODEL_FAULT", "MODEL_FAULT", "KNOWN_GAP", "KNOWN_GAP"],
    )
    assert (score.agree, score.agreement) == (3, 0.75)
    fault, gap = score.of_class("MODEL_FAULT"), score.of_class("KNOWN_GAP")
    assert (fault.precision, fault.recall) == (1.0, pytest.approx(2 / 3))
    assert (gap.precision, gap.recall) == (0.5, 1.0)
    assert score.macro_f1 == pytest.approx((0.8 + 2 / 3) / 2)  # classes that do not occur have no part in it
    assert score.fault_agreement == 0.75


async def test_the_baseline_is_the_most_frequent_label() -> None:
    baseline = (await scored(["MODEL_FAULT"] * 3 + ["KNOWN_GAP"], ["KNOWN_GAP"] * 4)).baseline()
    assert (baseline.engine, baseline.agreement) == ("always MODEL_FAULT", 0.75)


async def test_confidence_is_compared_with_agreement() -> None:
    score = await scored(["MODEL_FAULT", "KNOWN_GAP"], ["MODEL_FAULT", "MODEL_FAULT"])
    [only] = score.reliability
    assert (only.count, only.confidence, only.agreement) == (2, 1.0, 0.5)
    assert score.calibration_error == 0.5


@pytest.mark.parametrize(
    ("confidences", "right", "area"),
    [
        ([0.9, 0.8, 0.3], [True, True, False], 1.0),
        ([0.9, 0.8, 0.3], [False, True, True], 0.0),
        ([0.7, 0.7], [True, False], 0.5),
        ([0.9, 0.2], [True, True], 0.5),
    ],
)
def test_the_area_under_the_curve_is_how_often_the_right_ones_are_surer(
    confidences: list[float], right: list[bool], area: float
) -> None:
    assert area_under_curve(confidences, right) == area


async def test_cases_are_split_by_amount_of_evidence() -> None:
    assert list((await scored(["MODEL_FAULT"], ["MODEL_FAULT"])).by_amount()) == ["nothing"]


async def test_the_json_has_the_promised_fields() -> None:
    shown = score_json(await scored(["MODEL_FAULT", "KNOWN_GAP"], ["MODEL_FAULT", "MODEL_FAULT"]))
    promised = {"engine", "total", "agree", "agreement", "macroF1", "perClass", "confusion", "cases"}
    added = {"faultAgreement", "calibrationError", "unsure", "reliability", "byEvidence", "baseline", "engines"}
    assert promised | added <= shown.keys()
    assert (shown["total"], shown["agree"], shown["agreement"]) == (2, 1, 0.5)
    assert shown["confusion"]["KNOWN_GAP"]["MODEL_FAULT"] == 1
    assert [{key: case[key] for key in ("id", "expected", "got")} for case in shown["cases"]] == [
        {"id": "0", "expected": "MODEL_FAULT", "got": "MODEL_FAULT"},
        {"id": "1", "expected": "KNOWN_GAP", "got": "MODEL_FAULT"},
    ]


async def test_disagreements_are_named() -> None:
    lines = list(score_lines(await scored(["AMBIGUOUS_TASK"], ["OVERLY_STRICT"])))
    assert any("labelled AMBIGUOUS_TASK, classified OVERLY_STRICT" in line for line in lines)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is not JSON"),
        ("[]", 'must be {"cases"'),
        ('{"cases": []}', "at least one case"),
        ('{"cases": [1]}', "case 1 must be an object"),
        (json.dumps({"cases": [{"failedStep": "tests", "class": "MODEL_FAULT"}]}), "'id' must be a text"),
        (
            json.dumps({"cases": [{"id": "a", "failedStep": "lint", "class": "MODEL_FAULT"}]}),
            "'failedStep' must be one",
        ),
        (json.dumps({"cases": [{"id": "a", "failedStep": "tests", "class": "BAD"}]}), "'class' must be one of"),
        (
            json.dumps({"cases": [{"id": "a", "failedStep": "tests", "class": "KNOWN_GAP", "files": {"a": 1}}]}),
            "'files' must be an object",
        ),
    ],
)
def test_an_invalid_labelled_set_is_explained(content: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=complaint):
        read_cases(path)


async def test_a_case_may_have_nothing_but_id_step_and_class(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text('{"cases": [{"id": "bare", "failedStep": "deploy", "class": "MODEL_FAULT"}]}')
    score = await score_engine(read_cases(path), RulesEngine(), None)
    assert score.agree == 1
