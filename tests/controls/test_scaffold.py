from pathlib import Path

import pytest

from convex_evals.controls import load_controls, plan_eval, suite_for_writing
from convex_evals.core.errors import UsageError
from convex_evals.suite import load_suite, read_answer


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name in ("000-basics/000-first", "000-basics/004-last", "002-queries/000-only"):
        (tmp_path / "evals" / name / "answer").mkdir(parents=True)
    return tmp_path / "evals"


@pytest.mark.parametrize(
    ("category", "name", "expected"),
    [
        ("basics", "new", "000-basics/005-new"),
        ("000", "new", "000-basics/005-new"),
        ("000-basics", "002-new", "000-basics/002-new"),
        ("vectors", "new", "003-vectors/000-new"),
        ("003-querys", "new", "003-querys/000-new"),
        ("001-vectors", "010-new", "001-vectors/010-new"),
    ],
)
def test_a_new_eval_gets_the_next_free_number(suite: Path, category: str, name: str, expected: str) -> None:
    scaffold = plan_eval(suite, category, name)
    assert f"{scaffold.category}/{scaffold.name}" == expected
    assert suite / expected / "TASK.txt" in scaffold.files
    assert suite.parent / "controls" / expected / "wrong-scan.patch" in scaffold.files


@pytest.mark.parametrize(
    ("category", "name", "complaint"),
    [
        ("basics", "first", "There is 000-first already; choose another name."),
        ("basics", "004-new", "There is 004-last already; choose another number."),
        ("002-basics", "new", "There is 000-basics already; choose another name."),
        (
            "basics",
            "has blanks",
            "'has blanks' cannot be a name; expected a word, or a number and a word like 000-empty",
        ),
        ("../out", "new", "'../out' cannot be a name"),
        ("querys", "new", "There is no category 'querys'; did you mean queries? A new one would be 003-querys."),
    ],
)
def test_names_that_are_taken_or_invalid_are_refused(suite: Path, category: str, name: str, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan_eval(suite, category, name)
    assert complaint in str(caught.value)


def test_nothing_is_overwritten_or_half_written(suite: Path) -> None:
    control = suite.parent / "controls" / "000-basics" / "005-new" / "wrong-scan.patch"
    control.parent.mkdir(parents=True)
    control.write_text("mine")
    with pytest.raises(UsageError, match=r"wrong-scan\.patch is there already"):
        plan_eval(suite, "basics", "new").write()
    assert control.read_text() == "mine"
    assert not (suite / "000-basics" / "005-new").exists()


def test_the_controls_fit_the_answer(tmp_path: Path) -> None:
    folder = suite_for_writing(tmp_path / "new")
    plan_eval(folder, "notes", "latest_notes").write()
    suite = load_suite(folder)
    (made,) = suite.evals
    assert not suite.problems and not suite.warnings
    assert '"name": "latest-notes"' in read_answer(made)["package.json"]
    found = load_controls(tmp_path / "new" / "controls", made, read_answer(made))
    assert not found.problems
    assert [control.kind for control in found.controls].count("wrong") >= 3


def test_a_recorded_answer_belongs_only_to_a_suite_that_has_such(suite: Path) -> None:
    samples = suite.parent / "samples" / "apprentice"
    assert not [path for path in plan_eval(suite, "basics", "new").files if path.is_relative_to(samples)]
    samples.mkdir(parents=True)
    text = plan_eval(suite, "basics", "new").files[samples / "000-basics" / "005-new.md"]
    assert text.startswith("<!-- Written by hand for demonstration")
    assert "\n# Files\n\n## convex/index.ts\n\n```ts\nimport" in text


def test_where_a_new_suite_begins(tmp_path: Path) -> None:
    assert suite_for_writing(tmp_path / "evals") == tmp_path / "evals"
    assert suite_for_writing(tmp_path / "mine") == tmp_path / "mine" / "evals"
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is not a folder"):
        suite_for_writing(tmp_path / "file")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("")
    with pytest.raises(UsageError, match="holds no evals"):
        suite_for_writing(tmp_path / "other")
