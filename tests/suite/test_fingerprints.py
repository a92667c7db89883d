import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.suite import load_suite
from convex_evals.suite.files import fingerprint
from convex_evals.suite.files import fingerprint_entry as entry

WriteEval = Callable[..., Path]
Write = Callable[[str, str | bytes], Path]
EVAL = "000-basics/000-first"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_canonical_form_is_the_listing_that_sha256sum_prints() -> None:
    listing = f"{sha256('b')}  TASK.txt\n{sha256('a')}  answer/index.ts\n"
    assert fingerprint([entry("answer/index.ts", b"a"), entry("TASK.txt", b"b")]) == sha256(listing)


def test_the_recipe_in_the_documentation_gives_the_same_fingerprint(root: Path, write_eval: WriteEval) -> None:
    path = write_eval()
    recipe = "find TASK.txt answer -type f | LC_ALL=C sort | xargs sha256sum | sha256sum"
    printed = subprocess.run(["sh", "-c", recipe], cwd=path, capture_output=True, text=True, check=True).stdout
    assert printed.split()[0] == fingerprints(root)["content"]


def fingerprints(root: Path) -> dict[str, str | None]:
    suite = load_suite(root)
    assert not suite.problems
    first = suite.evals[0].fingerprints
    return {"content": first.content, "grader": first.grader, "suite": suite.fingerprint}


CHANGES: dict[str, tuple[str, set[str]]] = {
    "the task": (f"{EVAL}/TASK.txt", {"content", "suite"}),
    "the answer": (f"{EVAL}/answer/convex/index.ts", {"content", "suite"}),
    "a new answer file": (f"{EVAL}/answer/convex/schema.ts", {"content", "suite"}),
    "the grader": (f"{EVAL}/grader.py", {"grader", "suite"}),
    "the pipeline": (f"{EVAL}/eval.json", {"grader", "suite"}),
    "a variant for written tests": (f"{EVAL}/variants/other/convex/index.ts", {"grader", "suite"}),
    "a shared grader file": ("grader/index.ts", {"grader", "suite"}),
    "a shared grader file beside the evals": ("../grader/index.ts", {"grader", "suite"}),
    "the suite's settings": ("suite.json", {"suite"}),
    "another eval": ("000-basics/001-second/TASK.txt", {"suite"}),
    "the gaps": (f"{EVAL}/GAPS.txt", set()),
    "installed packages": (f"{EVAL}/answer/node_modules/convex/index.js", set()),
    "generated code": (f"{EVAL}/answer/convex/_generated/api.js", set()),
    "compiled Python": (f"{EVAL}/answer/__pycache__/x.pyc", set()),
    "an incremental build": (f"{EVAL}/answer/tsconfig.tsbuildinfo", set()),
    "a pytest cache": (f"{EVAL}/.pytest_cache/v", set()),
    "a deployment's address": (f"{EVAL}/answer/.env.local", set()),
    "a note beside the eval": (f"{EVAL}/NOTES.md", set()),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_shows_in_exactly_the_fingerprints_it_belongs_to(
    root: Path, write_eval: WriteEval, write: Write, what: str
) -> None:
    write_eval(EVAL)
    write_eval("000-basics/001-second")
    before = fingerprints(root)
    file, expected = CHANGES[what]
    write(file, "{}")
    after = fingerprints(root)
    assert {name for name in before if before[name] != after[name]} == expected


def test_times_and_modes_do_not_count(root: Path, write_eval: WriteEval) -> None:
    path = write_eval()
    before = fingerprints(root)
    os.utime(path / "TASK.txt", (0, 0))
    (path / "answer" / "package.json").chmod(0o755)
    assert fingerprints(root) == before


def test_the_folder_a_suite_lies_in_does_not_count(root: Path, write_eval: WriteEval, tmp_path: Path) -> None:
    write_eval()
    before = fingerprints(root)
    assert fingerprints(root.rename(tmp_path / "elsewhere")) == before


def test_moving_bytes_from_one_file_to_the_next_changes_the_fingerprint() -> None:
    assert fingerprint([entry("a", b"1"), entry("b", b"23")]) != fingerprint([entry("a", b"12"), entry("b", b"3")])
