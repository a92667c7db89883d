from pathlib import Path

import convex_evals
from convex_evals.core.checkout import checkout_root, package_folder


def test_the_package_folder_is_where_the_package_was_imported_from() -> None:
    assert convex_evals.__file__ is not None
    assert package_folder() == Path(convex_evals.__file__).resolve().parent


def test_the_checkout_is_the_repository_that_holds_these_tests() -> None:
    assert checkout_root() == Path(__file__).resolve().parents[2]
