from convex_evals.analysis.diagnostics.tests import read_failed_tests

PYTEST = """\
$ pytest grader.py
collected 3 items
=================================== FAILURES ===================================
___________________ test_reads_only_the_messages_it_returns ____________________
/suite/002-queries/003-x/grader.py:54: in test_reads_only_the_messages_it_returns
    assert work.documents_read <= 3, f"read {work.documents_read}"
E   AssertionError: of 300 messages it returned 3, and read 30
E   assert 30 <= 3
________________________________ test_tags[one] ________________________________
/suite/002-queries/003-x/grader.py:30: in test_tags
    assert titles(project, "one") == ["a"]
           ^^^^^^^^^^^^^^^^^^^^^^
/suite/002-queries/003-x/grader.py:16: in titles
    return project.query("index:byTag", tag=tag)
E   kit.errors.CallFailed: index:byTag failed on the project deployment: Uncaught TypeError: e.iter is not a function
E       at handler (../convex/index.ts:11:65)
=========================== short test summary info ============================
FAILED grader.py::test_tags[one]
========================= 2 failed, 1 passed in 0.92s ==========================
"""
VITEST = """\
 FAIL  grader.test.ts > crons > has the labels
AssertionError: expected 'export default {}' to contain 'run every second'
 ❯ grader.test.ts:14:21
     13|   const spec = await apiSpec();
     14|   expect(spec).toContain("run every second");
       |                ^
     15| });
"""
EXCERPT = """\
✗ test_an_update (grader.py:47)
  a profile: not as expected
  expected: {'bio': None}
  received: {'bio': 'Engines'}
  first difference: bio: expected None, received 'Engines'
"""


def test_the_log_of_pytest_gives_every_failed_test_with_its_assertion() -> None:
    first, second = read_failed_tests(PYTEST)
    assert (first.name, first.line, first.expected, first.received) == (
        "test_reads_only_the_messages_it_returns",
        54,
        "<= 3",
        "30",
    )
    assert first.assertion == 'assert work.documents_read <= 3, f"read {work.documents_read}"'
    assert (second.name, second.assertion) == ("test_tags[one]", 'assert titles(project, "one") == ["a"]')
    assert second.message.startswith("CallFailed: index:byTag failed")


def test_an_error_that_the_answer_throws_is_the_same_mistake_in_other_evals() -> None:
    first, second = read_failed_tests(PYTEST)
    assert first.fingerprint == "test:test_reads_only_the_messages_it_returns"
    assert second.fingerprint == "runtime:TypeError: _.iter is not a function"


def test_the_log_of_vitest_is_understood_too() -> None:
    (found,) = read_failed_tests(VITEST)
    assert (found.name, found.place) == ("crons > has the labels", "grader.test.ts:14")
    assert (found.expected, found.received) == ("'run every second'", "'export default {}'")
    assert found.assertion == 'expect(spec).toContain("run every second");'


def test_without_a_log_the_excerpt_has_to_do() -> None:
    (found,) = read_failed_tests("", EXCERPT)
    assert (found.name, found.line, found.expected, found.received) == (
        "test_an_update",
        47,
        "{'bio': None}",
        "{'bio': 'Engines'}",
    )
