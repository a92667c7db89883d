"""`eval.json`: tags, and what of it counts for the verdict."""

from pathlib import Path

import pytest
from tests.suite.conftest import WriteEval

from convex_evals.suite import Difficulty, DifficultySource, Tags, load_suite, read_tags

CALIBRATED = (
    '{"tags": {"concepts": ["contention", "read-sets"], "difficulty": {"level": "hard", "source": "calibration"}}}'
)


def fingerprint(root: Path, write_eval: WriteEval, settings: str | None) -> str | None:
    folder = write_eval(changes={"eval.json": settings})
    if settings is None:
        (folder / "eval.json").unlink(missing_ok=True)
    return load_suite(root).evals[0].fingerprints.grader


def test_tags_are_concepts_and_a_difficulty_with_its_source(root: Path, write_eval: WriteEval) -> None:
    write_eval(changes={"eval.json": CALIBRATED})
    suite = load_suite(root)
    assert suite.warnings == ()
    assert suite.evals[0].tags == Tags(("contention", "read-sets"), Difficulty.HARD, DifficultySource.CALIBRATION)
    assert suite.evals[0].tags.names == ("contention", "read-sets", "hard")
    assert read_tags(root) == suite.tags != {}


def test_tags_of_broken_evals_are_left_out(root: Path, write_eval: WriteEval) -> None:
    write_eval(changes={"eval.json": "{"})
    assert read_tags(root) == {}


def test_tags_do_not_change_how_an_answer_is_graded(root: Path, write_eval: WriteEval) -> None:
    plain = fingerprint(root, write_eval, None)
    assert fingerprint(root, write_eval, CALIBRATED) == plain
    static = fingerprint(root, write_eval, '{"pipeline": "static"}')
    tagged = fingerprint(root, write_eval, '{"pipeline": "static", "tags": {"concepts": ["files"]}}')
    again = fingerprint(root, write_eval, '{"tags": {"concepts": ["other"]}, "pipeline": "static"}')
    assert len({plain, static}) == 2
    assert tagged == again != plain


@pytest.mark.parametrize(
    "tags",
    [
        "[]",
        '{"concepts": "contention"}',
        '{"concepts": ["Two Words"]}',
        '{"difficulty": "hard"}',
        '{"difficulty": {"level": "impossible", "source": "author"}}',
        '{"difficulty": {"level": "hard"}}',
        '{"colour": "red"}',
    ],
)
def test_other_tags_are_refused_with_an_example(root: Path, write_eval: WriteEval, tags: str) -> None:
    write_eval(changes={"eval.json": f'{{"tags": {tags}}}'})
    (problem,) = load_suite(root).problems
    assert problem.found.endswith("as tags")
    assert '"source": "calibration"' in problem.fix
