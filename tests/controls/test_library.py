from collections.abc import Callable
from pathlib import Path

from convex_evals.controls import controls_folder, load_controls, strays
from convex_evals.suite import Suite, read_answer

MakeSuite = Callable[..., Suite]


def test_controls_are_next_to_the_suite_or_inside_it(tmp_path: Path) -> None:
    suite = tmp_path / "evals"
    suite.mkdir()
    assert controls_folder(suite) == tmp_path / "controls"
    (suite / "controls").mkdir()
    assert controls_folder(suite) == suite / "controls"
    assert controls_folder(tmp_path / "_evals") == tmp_path / "_controls"


def test_controls_of_an_eval_are_read_in_order_and_broken_ones_are_reported(hello: MakeSuite, tmp_path: Path) -> None:
    suite = hello()
    folder = tmp_path / "controls" / "000-basics" / "000-hello"
    (folder / "notes.md").write_text("Remember this.\n")
    (folder / "equivalent.txt").write_text("")
    found = load_controls(tmp_path / "controls", suite.evals[0], read_answer(suite.evals[0]))
    assert [control.name for control in found.controls] == ["alternative-loud", "wrong-moon"]
    assert [problem.path.name for problem in found.problems] == ["notes.md"]


def test_an_eval_without_controls_has_none(hello: MakeSuite, tmp_path: Path) -> None:
    suite = hello()
    found = load_controls(tmp_path / "nowhere", suite.evals[0], read_answer(suite.evals[0]))
    assert (found.controls, found.problems) == ((), ())


def test_controls_of_an_eval_that_is_gone_are_reported(hello: MakeSuite, tmp_path: Path) -> None:
    suite = hello()
    assert strays(tmp_path / "controls", suite) == ()
    (tmp_path / "controls" / "000-basics" / "001-gone").mkdir()
    (problem,) = strays(tmp_path / "controls", suite)
    assert "001-gone: belongs to no eval of the suite" in str(problem)
