"""Which paths a model may write."""

import pytest

from convex_evals.pipeline.filesystem.paths import clean, is_hidden, refuse, refuse_together, shown


@pytest.mark.parametrize(
    "path",
    [
        "package.json",
        "convex/schema.ts",
        "convex/deep/er/module.ts",
        "src/App.tsx",
        "a b/c.ts",
        "[id]/page.tsx",
        "ü.ts",
    ],
)
def test_ordinary_paths_are_allowed(path: str) -> None:
    assert refuse(path) is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "must not be empty"),
        ("../outside.ts", "inside the project"),
        ("convex/../../outside.ts", "inside the project"),
        ("..", "inside the project"),
        ("../project-evil/x.ts", "inside the project"),
        ("/etc/passwd", "not absolute"),
        ("//host/share", "not absolute"),
        ("C:/windows/x.ts", "must not contain :"),
        ("convex\\..\\..\\x.ts", "must not contain \\"),
        ("convex/x.ts::$DATA", "must not contain :"),
        ("convex/x\0.ts", "control or invisible"),
        ("convex/x\n.ts", "control or invisible"),
        ("convex/\u202etxt.ts", "control or invisible"),
        ("convex/\ud800.ts", "control or invisible"),
        ("convex//x.ts", "empty parts"),
        ("convex/./x.ts", "empty parts"),
        ("convex/", "empty parts"),
        ("convex/x.ts ", "begin or end with a space"),
        ("convex/x.", "end with a dot"),
        ("convex/nul.ts", "device"),
        ("a/" * 20 + "x.ts", "deeper"),
        ("x" * 200, "longer"),
        ("ä/" * 100, "longer"),
    ],
)
def test_a_path_that_could_leave_the_project_or_cannot_exist_is_refused(path: str, reason: str) -> None:
    refusal = refuse(path)
    assert refusal is not None
    assert refusal.kind == "path-refused"
    assert reason in refusal.reason


@pytest.mark.parametrize(
    "path",
    [
        "convex/_generated/api.d.ts",
        "convex/counter/_generated/server.ts",
        "node_modules/x/index.js",
        "CONVEX/_Generated/x",
    ],
)
def test_what_tools_generate_is_refused(path: str) -> None:
    refusal = refuse(path)
    assert refusal is not None
    assert refusal.kind == "generated-refused"


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (["convex/Users.ts", "convex/users.ts"], "is the same file as convex/Users.ts"),
        (["é.ts", "e\u0301.ts"], "is the same file"),
        (["convex", "convex/x.ts"], "lies below convex, which is a file"),
        (["a/b", "A/B/c"], "lies below a/b"),
    ],
)
def test_paths_that_cannot_exist_side_by_side_are_refused(paths: list[str], reason: str) -> None:
    assert reason in refuse_together(paths)[0].reason


def test_dotfiles_are_recognised_and_a_leading_dot_slash_means_nothing() -> None:
    assert is_hidden(".npmrc")
    assert is_hidden("convex/.env")
    assert is_hidden(".git/hooks/post-checkout")
    assert not is_hidden("convex/a.b.ts")
    assert clean("./convex/x.ts") == "convex/x.ts"


def test_a_refused_path_is_shown_and_not_obeyed() -> None:
    assert shown("a\x1b[31m\u202e") == "a\\x1b[31m\\u202e"
    assert len(shown("x" * 10_000)) < 300
