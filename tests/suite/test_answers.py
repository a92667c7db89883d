"""Which files of a reference answer are deployed."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from convex_evals.suite import is_chosen as matches
from convex_evals.suite import read_texts
from convex_evals.suite.answers import is_chosen


@pytest.mark.parametrize(
    ("name", "globs", "chosen"),
    [
        ("package.json", ["**/*"], True),
        ("convex/lib/deep.ts", ["**/*"], True),
        ("convex/index.ts", ["*.ts", "package.json"], True),
        ("convex/index.tsx", ["*.ts", "package.json"], False),
        ("convex/index.ts", ["convex/*"], True),
        ("convex/lib/deep.ts", ["convex/*"], False),
        ("convex/lib/deep.ts", ["convex/**/*.ts"], True),
        ("convex/index.ts", ["convex/**/*.ts"], True),
        ("convex/lib/deep.ts", ["convex/**"], True),
        ("src/convex/index.ts", ["convex/**"], False),
        ("anything", [], False),
    ],
)
def test_globs_choose_files(name: str, globs: Sequence[str], chosen: bool) -> None:
    assert is_chosen(name, globs) is chosen


def test_texts_are_read_in_stable_order_without_pictures_and_what_tools_leave_behind(tmp_path: Path) -> None:
    for name, content in {
        "package.json": b"{}",
        "convex/index.ts": "export const ä = 1;\n".encode(),
        "convex/_generated/api.ts": b"generated",
        "node_modules/x/index.js": b"installed",
        "public/logo.png": b"\x89PNG\xff",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert list(read_texts(tmp_path).items()) == [("convex/index.ts", "export const ä = 1;\n"), ("package.json", "{}")]
    assert read_texts(tmp_path, ["*.ts"]) == {"convex/index.ts": "export const ä = 1;\n"}


@pytest.mark.parametrize(
    ("path", "globs", "expected"),
    [
        ("convex/a.ts", ("**/*",), True),
        ("package.json", ("**/*",), True),
        ("convex/deep/a.ts", ("*.ts", "package.json"), True),
        ("package.json", ("*.ts", "package.json"), True),
        ("src/App.tsx", ("*.ts", "package.json"), False),
        ("convex/a.ts", ("convex/*",), True),
        ("convex/b/a.ts", ("convex/*",), False),
        ("convex/b/a.ts", ("convex/**",), True),
        ("convex/b/a.ts", ("./convex/**/*.ts",), True),
        ("convex/axts", ("convex/a.ts",), False),
        ("a.ts", ("?.ts",), True),
    ],
)
def test_globs(path: str, globs: tuple[str, ...], expected: bool) -> None:
    assert matches(path, globs) is expected
