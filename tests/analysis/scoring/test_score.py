"""Agreement with people: the labelled sets that we have, and the figures that come out."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from convex_evals.analysis.classification import Classification, RulesEngine
from convex_evals.analysis.classification.types import EngineName
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.scoring import LabelledCase, Score, read_cases, score_engine, score_json, score_lines
from convex_evals.analysis.surface import Surface
from convex_evals.core.errors import UsageError
from convex_evals.core.verdicts import FailureClass

LABELLED = Path(__file__).parents[1] / "labelled"


@pytest.mark.parametrize(
    ("name", "total", "least"), [("report", 19, 17), ("development", 33, 31), ("held-out", 33, 30)]
)
async def test_the_rules_agree_with_people(name: str, total: int, least: int, surface: Surface) -> None:
    score = await score_engine(read_cases(LABELLED / f"{name}.json"), RulesEngine(), surface)
    assert len(score.results) == total
    assert score.agree >= least, "\n".join(score_lines(score))


def test_our_own_cases_are_many_and_half_of_them_are_held_out() -> None:
    development, held_out = (read_cases(LABELLED / f"{name}.json") for name in ("development", "held-out"))
    assert len(development) + len(held_out) >= 60
    assert len(held_out) * 2 >= len(development) + len(held_out)
    assert not {case.id for case in development} & {case.id for case in held_out}


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


async def test_the_json_has_the_promised_fields() -> None:
    shown = score_json(await scored(["MODEL_FAULT", "KNOWN_GAP"], ["MODEL_FAULT", "MODEL_FAULT"]))
    assert {"engine", "total", "agree", "agreement", "macroF1", "perClass", "confusion", "cases"} <= shown.keys()
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
def test_a_labelled_set_that_is_none_is_explained(content: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=complaint):
        read_cases(path)


async def test_a_case_may_have_nothing_but_id_step_and_class(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text('{"cases": [{"id": "bare", "failedStep": "deploy", "class": "MODEL_FAULT"}]}')
    score = await score_engine(read_cases(path), RulesEngine(), None)
    assert score.agree == 1
