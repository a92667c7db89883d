"""Which files of a reference answer are deployed."""

import pytest

from convex_evals.suite import is_chosen as matches


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
