from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.core.distribution import checkout_root
from convex_evals.core.errors import SuiteError
from convex_evals.suite import find_suite

WriteEval = Callable[..., Path]


def test_the_folder_of_categories_may_be_named(root: Path, write_eval: WriteEval) -> None:
    write_eval()
    assert find_suite(root) == root


def test_a_folder_that_contains_evals_may_be_named(root: Path, write_eval: WriteEval) -> None:
    write_eval()
    assert find_suite(root.parent) == root


def test_an_eval_in_the_wrong_place_does_not_hide_the_suite(root: Path, write_eval: WriteEval) -> None:
    write_eval()
    write_eval("000-outside_a_category")
    assert find_suite(root.parent) == root


def test_the_nearest_evals_folder_is_found_upward(root: Path, write_eval: WriteEval) -> None:
    path = write_eval()
    assert find_suite(start=path / "answer" / "convex") == root


def test_an_evals_folder_without_evals_is_passed_over(root: Path, write_eval: WriteEval) -> None:
    write_eval()
    deeper = root.parent / "src" / "evals"
    deeper.mkdir(parents=True)
    assert find_suite(start=deeper) == root


def test_far_from_any_suite_the_checkouts_own_is_used(tmp_path: Path) -> None:
    checkout = checkout_root()
    assert checkout is not None
    assert find_suite(start=tmp_path) == checkout / "evals"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing", "does not exist; name a folder that holds evals"),
        ("file", "is not a folder; name a folder that holds evals"),
        ("circle", "; name a folder that holds evals"),
        ("x" * 300, "; name a folder that holds evals"),
        ("empty", "holds no evals; expected folders like 000-fundamentals/000-empty_functions"),
        ("evals/000-basics", "is one part of a suite; name the suite's folder, "),
        ("evals/000-basics/000-first", "is one part of a suite; name the suite's folder, "),
    ],
)
def test_a_folder_that_is_not_a_suite_is_refused(root: Path, write_eval: WriteEval, name: str, sentence: str) -> None:
    write_eval()
    (root.parent / "empty").mkdir()
    (root.parent / "file").touch()
    (root.parent / "circle").symlink_to("circle")
    with pytest.raises(SuiteError) as raised:
        find_suite(root.parent / name)
    assert sentence in str(raised.value)
    if "part of" in sentence:
        assert f"{root}, and choose" in str(raised.value)
