from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from convex_evals.suite import Suite, load_suite

GRADER = """\
def test_says_hello(files):
    assert files.text("hello.txt").startswith("hello")


def test_says_it_to_the_right_one(files):
    assert files.text("to.txt") == "world\\n"
"""
WRONG = """\
Step: tests
Test: test_says_it_to_the_right_one
Why: Somebody else is meant.

--- a/to.txt
+++ b/to.txt
@@ -1 +1 @@
-world
+moon
"""
ALTERNATIVE = """\
Expect: passed
Why: It may be said louder.

--- a/hello.txt
+++ b/hello.txt
@@ -1 +1 @@
-hello
+hello!
"""
MakeSuite = Callable[..., Suite]


@pytest.fixture
def hello(tmp_path: Path) -> MakeSuite:
    """A suite of one eval that grades files only, with controls as given: by file name."""

    def hello(controls: Mapping[str, str] | None = None, grader: str = GRADER) -> Suite:
        path = tmp_path / "evals" / "000-basics" / "000-hello"
        (path / "answer").mkdir(parents=True)
        (path / "TASK.txt").write_text("Say hello.\n")
        (path / "answer" / "hello.txt").write_text("hello\n")
        (path / "answer" / "to.txt").write_text("world\n")
        (path / "eval.json").write_text('{"pipeline": "static"}')
        (path / "grader.py").write_text(grader)
        folder = tmp_path / "controls" / "000-basics" / "000-hello"
        folder.mkdir(parents=True)
        given = {"wrong-moon.patch": WRONG, "alternative-loud.patch": ALTERNATIVE} if controls is None else controls
        for name, text in given.items():
            (folder / name).write_text(text)
        return load_suite(tmp_path / "evals")

    return hello
