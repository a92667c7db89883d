import pytest

from convex_evals.analysis.gaps import read_gaps

TEXT = """\
mutations, uploads:

- None for now 👏
- It works!
- Uses `path` instead of `pathPrefix`, so it returns 404.
- (resolved) `prefer-const` was removed.
- [check] The comparison wants `returns`.
"""


def test_headings_and_praise_are_not_entries() -> None:
    assert [each.text.split()[0] for each in read_gaps(TEXT)] == ["Uses", "(resolved)", "[check]"]


def test_an_entry_knows_what_is_done_and_what_is_wanted() -> None:
    first = read_gaps(TEXT)[0]
    assert (first.does.code, first.wants.code) == ({"path"}, {"pathprefix"})
    assert "404" not in first.wants.words


def test_what_is_resolved_is_marked() -> None:
    assert [each.resolved for each in read_gaps(TEXT)] == [False, True, False]


@pytest.mark.parametrize(
    ("text", "blames"),
    [
        ("- Forgets to await.", "model"),
        ("- The task does not say in which order.", "task"),
        ("- [task] The order of equal scores.", "task"),
        ("- The rule is too strict here.", "check"),
        ("- An answer without args is rejected although it is right.", "check"),
    ],
)
def test_an_entry_says_who_is_wrong(text: str, blames: str) -> None:
    assert [each.blames for each in read_gaps(text)] == [blames]


def test_what_nobody_asked_for_is_excused() -> None:
    assert read_gaps("- No retries, but that was not asked for.")[0].excused


@pytest.mark.parametrize(
    "text",
    [
        "- The file looks great otherwise.",
        "- They got it!",
        "- Does better at this now.",
        "- no issues so far",
        "- n/a",
    ],
)
def test_a_report_of_success_is_not_an_entry(text: str) -> None:
    assert read_gaps(text) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- Reads twice, but that's only slow.", {"read", "twic"}),
        ("- Besides the other trouble, reads twice.", {"read", "twic"}),
        ("- Reads twice, perhaps by mistake.", {"read", "twic"}),
        ("- Reads twice - should mention it in the task", {"read", "twic"}),
    ],
)
def test_remarks_are_not_part_of_the_cause(text: str, words: set[str]) -> None:
    assert read_gaps(text)[0].does.words == words


@pytest.mark.parametrize(
    ("text", "explains"),
    [
        ("- Two helpers are fine too, don't count them", False),
        ("- Reading twice is acceptable", False),
        ("- an extra index is not a problem", False),
        ("- Two helpers are fine, but the test wants one", True),
        ("- the linter rejects short names, although they are okay", True),
        ("- forgets the second helper", True),
    ],
)
def test_what_is_accepted_explains_no_failure(text: str, explains: bool) -> None:
    assert [each.explains_failures for each in read_gaps(text)] == [explains]
