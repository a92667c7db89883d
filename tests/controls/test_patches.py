import difflib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.controls.patches import PatchError, apply_patch, make_patch, parse_patch

FILES = {"a.txt": "one\ntwo\nthree\n", "b.txt": "x\n"}
# Few different lines, so that the same one stands in many places; others than \n separate nothing.
texts = st.lists(
    st.sampled_from(["", "a", "b", "  c", "-d", "+e", "\\f", "@@ g", "--- h", "\x0c", "\u2028i"]), max_size=12
)
ends = st.sampled_from(["", "\n"])


def patched(patch: str, files: dict[str, str] = FILES) -> dict[str, str]:
    return apply_patch(parse_patch(patch), files)


def unified(before: str, after: str, context: int) -> str:
    """As diff would write it, with its remark about a missing newline."""
    diff = difflib.unified_diff(lines(before), lines(after), "a/f", "b/f", n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff)


def lines(text: str) -> list[str]:
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [last for last in text.split("\n")[-1:] if last]


def test_a_patch_that_was_made_of_two_answers_turns_one_into_the_other() -> None:
    before = {"a.ts": "one\ntwo\nthree", "b.ts": "gone\n", "same.ts": "same\n"}
    after = {"a.ts": "one\n2\nthree\n", "c/d.ts": "new", "same.ts": "same\n"}
    assert apply_patch(parse_patch(make_patch(before, after)), before) == after
    assert make_patch(before, before) == ""


@given(texts, ends, texts, ends, st.integers(0, 3))
def test_a_diff_of_two_texts_makes_one_of_the_other(
    before: list[str], before_end: str, after: list[str], after_end: str, context: int
) -> None:
    old, new = "\n".join(before) + before_end, "\n".join(after) + after_end
    diff = unified(old, new, context)
    if diff:
        assert patched(diff, {"f": old, "g": "untouched"}) == {"f": new, "g": "untouched"}


@given(texts, texts, st.data())
def test_a_diff_does_not_apply_when_a_line_it_shows_has_changed(
    before: list[str], after: list[str], data: st.DataObject
) -> None:
    old, new = "".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after)
    diff = unified(old, new, 99)
    if diff and before:
        place = data.draw(st.integers(0, len(before) - 1))
        changed = [*before[:place], "something else", *before[place + 1 :]]
        with pytest.raises(PatchError, match=rf"line {place + 1} of f must be"):
            patched(diff, {"f": "".join(f"{line}\n" for line in changed)})


def test_files_are_created_and_deleted() -> None:
    patch = (
        "diff --git a/b.txt b/b.txt\ndeleted file mode 100644\n--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "--- /dev/null\n+++ b/new/c.txt\n@@ -0,0 +1,2 @@\n+y\n+z\n"
    )
    assert patched(patch) == {"a.txt": FILES["a.txt"], "new/c.txt": "y\nz\n"}


def test_a_diff_without_dates_may_begin_with_a_missing_or_an_empty_file() -> None:
    patch = "--- a/c.txt\n+++ b/c.txt\n@@ -0,0 +1 @@\n+y\n"
    assert patched(patch)["c.txt"] == patched(patch, {"c.txt": ""})["c.txt"] == "y\n"


def test_what_common_tools_write_is_understood(tmp_path: Path) -> None:
    versions = {"a": FILES, "b": {"a.txt": "one\n2\nthree\n", "c.txt": "new"}}
    for version, files in versions.items():
        (tmp_path / version).mkdir()
        for name, text in files.items():
            (tmp_path / version / name).write_text(text)
    for command in (["diff", "-ruN", "a", "b"], ["git", "diff", "--no-index", "--no-prefix", "a", "b"]):
        made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
        assert patched(made) == versions["b"], command[0]


@pytest.mark.parametrize(
    ("patch", "complaint"),
    [
        ("", "there is no diff in it"),
        ("@@ -1 +1 @@\n-one\n+1\n", "a hunk before the name of a file"),
        ("--- a/a.txt\n", "there is no line with"),
        ("--- a/a.txt\n+++ b/a.txt\n", "it changes nothing in a.txt"),
        ("--- a/a.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+1\n", "a file keeps its name"),
        ("--- a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n", "does not begin with a/"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ nonsense @@\n", "is not the head of a hunk"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n", "has fewer lines than it says"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1 @@\n-one\n+1\n+2\n-two\n", "has other lines than it says"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n*one\n", "stands in a hunk"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-one\n+1\n", "line 2 of a.txt must be 'one', but is 'two'"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -4 +4 @@\n-four\n+4\n", "line 4 of a.txt must be 'four', but is not there"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -9 +9 @@\n-four\n+4\n", "has no line 9"),
        ("--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-one\n+1\n", "there is no file c.txt"),
        ("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n", "it creates a.txt, which is there already"),
        ("--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "names only a part of its lines"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "a file keeps its name"),
        ("rename from a.txt\nrename to b.txt\n", "only texts can be changed"),
        ("--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+y\n" * 2, "it names a file twice"),
    ],
)
def test_a_patch_that_is_invalid_or_does_not_fit_is_refused(patch: str, complaint: str) -> None:
    with pytest.raises(PatchError) as caught:
        patched(patch)
    assert complaint in str(caught.value)
