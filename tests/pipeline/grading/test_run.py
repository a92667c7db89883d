"""Python graders, run for real: what passes, what fails, whose fault it is, and what is told about it."""

import asyncio
import secrets
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from convex_evals.core.supervisor import descendants
from convex_evals.pipeline.grading import GradedDeployment, GraderResult, OrderOfTests
from convex_evals.pipeline.grading.kit import wait_until
from convex_evals.pipeline.grading.run import Collection, expected_tests
from convex_evals.pipeline.tools import Tools
from convex_evals.suite import Eval

pytestmark = pytest.mark.asyncio(loop_scope="session")

WriteEval = Callable[..., Eval]
Grade = Callable[..., Awaitable[GraderResult]]
GONE = GradedDeployment("http://127.0.0.1:9", "http://127.0.0.1:9", "key")


async def test_tests_that_all_pass_are_a_pass(write_eval: WriteEval, grade: Grade, graded: GradedDeployment) -> None:
    eval = write_eval(
        """
        import pytest
        from convex_evals.pipeline.grading.kit import same_schema

        @pytest.mark.parametrize("body", ["hi", "there"])
        def test_sends(project, body):
            project.mutation("messages:send", channel="a", body=body)
            assert [message["body"] for message in project.documents("messages")] == [body]

        class TestDeclarations:
            def test_schema(self, project, answer):
                same_schema(project, answer)

        def test_sources(files):
            assert files.exists("convex/messages.ts")
        """
    )
    result = await grade(eval, graded, graded)
    assert result.step.status == "passed", result.step.log.read_text()
    assert (result.tests.passed, result.tests.total) == (4, 4)
    assert "test_sends[hi] PASSED" in result.step.log.read_text()
    assert result.step.cpu_ms > 0
    assert [command.ending for command in result.step.commands] == ["exit code 0", "exit code 0"]


@dataclass(frozen=True)
class Case:
    grader: str
    failure: str
    excerpt: str
    passed: int = 0
    total: int = 1
    test_seconds: float = 60.0


BAD: dict[str, Case] = {
    "a wrong value is told as expected and received": Case(
        """
        def test_order(project):
            project.insert_many("messages", [{"channel": "a", "body": body} for body in "ab"])
            bodies = [message["body"] for message in project.query("messages:list", channel="a")]
            assert bodies == ["b", "a"]

        def test_fine(project):
            pass
        """,
        "tests-failed",
        """
        ✗ test_order (grader.py:5)
          assert ['a', 'b'] == ['b', 'a']
            expected: ['b', 'a']
            received: ['a', 'b']
            first difference: [0]: expected 'b', received 'a'
        """,
        passed=1,
        total=2,
    ),
    "an error of a function is told with its first lines": Case(
        "def test_it(project): project.query('messages:broken')",
        "tests-failed",
        """
        ✗ test_it (grader.py:1)
          CallFailed: messages:broken failed on the project deployment: Uncaught Error: boom
              at handler (../convex/messages.ts:""",
    ),
    "a look at what is not there is the answer's failure": Case(
        "def test_it(project): project.query('messages:whoAmI')['name']", "tests-failed", "TypeError: 'NoneType'"
    ),
    "a slow function is the answer's failure": Case(
        "def test_it(project): project.action('messages:slow', ms=600_000)",
        "tests-failed",
        "the action messages:slow did not answer within",
        test_seconds=4.0,
    ),
    "data that the answer's schema refuses is the answer's failure": Case(
        """
        import pytest

        @pytest.fixture
        def seeded(project):
            project.insert("messages", text="no such field")

        def test_it(seeded):
            pass
        """,
        "tests-failed",
        'insert into "messages" failed on the project deployment',
    ),
    "a failing teardown is a failure": Case(
        """
        import pytest

        @pytest.fixture
        def unchanged(project):
            yield
            assert project.documents("messages") == []

        def test_it(unchanged, project):
            project.insert("messages", channel="a", body="b")
        """,
        "tests-failed",
        "expected: []",
    ),
    "a skipped test does not pass": Case(
        "import pytest\ndef test_it(project): pytest.skip('not today')",
        "tests-failed",
        "✗ test_it (grader.py:2)\n  skipped, which is not a pass: not today",
    ),
    "a test that is expected to fail does not pass": Case(
        "import pytest\n@pytest.mark.xfail\ndef test_it(): assert False",
        "tests-failed",
        "skipped, which is not a pass",
    ),
    "a test that is expected to fail does not pass by passing": Case(
        "import pytest\n@pytest.mark.xfail\ndef test_it(): pass", "tests-failed", "skipped, which is not a pass"
    ),
    "a grader that cannot be imported is broken": Case(
        "import no_such_module\ndef test_it(): pass",
        "grader-broken",
        "the grader cannot be loaded\ngrader.py:1: ModuleNotFoundError: No module named 'no_such_module'",
        total=0,
    ),
    "a grader with a syntax error is broken": Case(
        "x = 1\ndef test_it(:",
        "grader-broken",
        "the grader cannot be loaded\ngrader.py:2: SyntaxError: invalid syntax\ndef test_it(:",
        total=0,
    ),
    "a grader without tests is broken": Case(
        "def check_it(): pass", "grader-broken", "the grader has no tests", total=0
    ),
    "a grader that names what does not exist is broken": Case(
        "def test_it(project): projct.query('a:b')", "grader-broken", "NameError: name 'projct' is not defined"
    ),
    "a grader that asks for an unknown fixture is broken": Case(
        "def test_it(projet): pass", "grader-broken", "fixture 'projet' not found"
    ),
    "a failing reference answer is broken": Case(
        "def test_it(answer): answer.query('messages:broken')",
        "grader-broken",
        "messages:broken failed on the answer deployment",
    ),
    "a grader that hangs in its own code hangs": Case(
        "def test_it():\n    while True:\n        try: sum(range(1000))\n        except Exception: pass",
        "grader-hangs",
        "the test did not end in time, and it was not waiting for a function",
        test_seconds=1.0,
    ),
    "a test that the answer keeps busy for too long fails": Case(
        "def test_it(project):\n    while True: sum(range(1000))",
        "tests-failed",
        "the test did not end in time",
        test_seconds=1.0,
    ),
    "an answer that takes all of the grader's memory fails": Case(
        "def test_it(project): bytearray(3 * 1024**3)", "tests-failed", "MemoryError"
    ),
    "two long texts that differ are compared at once": Case(
        "def test_it(files): assert 'ab' * 500_000 == 'ba' * 500_000", "tests-failed", "assert 'ababab"
    ),
    "characters that terminals obey are escaped": Case(
        "def test_it(files): raise AssertionError('\\x1b[2J \\ud800 \\u202e')",
        "tests-failed",
        "\\x1b[2J \\ud800 \\u202e",
    ),
    "a grader that leaves is no pass": Case(
        "import os\ndef test_it(): os._exit(0)", "grader-crashed", "the grader ended without a report (exit code 0)"
    ),
    "a grader that is killed is no pass": Case(
        "import os, signal\ndef test_it(): os.kill(os.getpid(), signal.SIGSEGV)",
        "grader-crashed",
        "the grader ended without a report (killed by SIGSEGV)",
    ),
    "a grader cannot kill the process it comes from": Case(
        "import os, signal\ndef test_it(): os.kill(os.getppid(), signal.SIGKILL)", "tests-failed", "PermissionError"
    ),
    "a grader that stops early is no pass": Case(
        "import pytest\ndef test_it(): pytest.exit('enough', returncode=0)",
        "grader-crashed",
        "the report has other tests than the grader (missing: ['test_it'], not known: [])",
    ),
    "a grader that takes too much memory is broken": Case(
        "def test_it(): bytearray(3 * 1024**3)", "grader-broken", "MemoryError"
    ),
}


# What a failing test compares: expected, received, and the line of the grader that led there.
COMPARED: dict[str, tuple[str, str, str, str]] = {
    "an assertion": (
        "def test_it(files):\n    assert [1, 2] == [2, 1], 'the order'",
        "[2, 1]",
        "[1, 2]",
        "assert [1, 2] == [2, 1], 'the order'",
    ),
    "another operator": ("def test_it(files):\n    assert 30 <= 3", "<= 3", "30", "assert 30 <= 3"),
    "an assertion in a helper": (
        "def check(value):\n    assert value == 1\n\ndef test_it(files):\n    check(\n        2\n    )",
        "1",
        "2",
        "check( 2 )",
    ),
    "values without system fields": (
        "from convex_evals.pipeline.grading.kit import assert_same\n"
        "def test_it(files):\n    assert_same({'_id': 1, 'a': 1}, {'a': 2})",
        "{'a': 2}",
        "{'a': 1}",
        "assert_same({'_id': 1, 'a': 1}, {'a': 2})",
    ),
    "a condition that never comes true": (
        "from convex_evals.pipeline.grading.kit import assert_same, wait_until\n"
        "def test_it(files):\n    wait_until(lambda: assert_same(1, 2), seconds=0)",
        "2",
        "1",
        "wait_until(lambda: assert_same(1, 2), seconds=0)",
    ),
    "a call that must fail": (
        "def test_it(project):\n    with project.fails('Too heavy'):\n        project.query('messages:whoAmI')",
        "an error 'Too heavy'",
        "success",
        "with project.fails('Too heavy'):",
    ),
    "a call that fails": (
        "def test_it(project):\n    project.query('messages:broken')",
        "success",
        "Uncaught Error: boom",
        "project.query('messages:broken')",
    ),
    "the words of an author": (
        "def test_it(files):\n    raise AssertionError('expected two rows, received three')",
        "two rows",
        "three",
        "raise AssertionError('expected two rows, received three')",
    ),
}


@pytest.mark.parametrize(("grader", "expected", "received", "assertion"), COMPARED.values(), ids=COMPARED)
async def test_what_was_expected_and_received_is_known_as_values(
    write_eval: WriteEval,
    grade: Grade,
    graded: GradedDeployment,
    grader: str,
    expected: str,
    received: str,
    assertion: str,
) -> None:
    result = await grade(write_eval(f"{grader}\n\ndef test_fine():\n    pass\n"), graded, graded)
    failed, fine = result.step.test_results
    assert (failed.status, failed.expected, failed.received) == ("failed", expected, received)
    assert (failed.file, failed.assertion) == ("grader.py", assertion)
    assert (fine.name, fine.status, fine.message) == ("test_fine", "passed", "")
    (found,) = result.step.diagnostics
    assert (found.tool, found.name, found.place) == ("pytest", "test_it", failed.place)
    assert (found.expected, found.received, found.assertion) == (expected, received, assertion)


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
async def test_what_does_not_pass_is_told_apart(
    write_eval: WriteEval, grade: Grade, graded: GradedDeployment, case: Case
) -> None:
    result = await grade(write_eval(case.grader), graded, graded, test_seconds=case.test_seconds)
    assert (result.step.failure, result.tests.passed, result.tests.total) == (case.failure, case.passed, case.total)
    assert textwrap.dedent(case.excerpt).strip() in result.step.excerpt
    assert result.step.status == ("failed" if case.failure == "tests-failed" else "infrastructure")
    assert (result.broken is not None) == (case.failure == "grader-broken")


async def test_a_deployment_that_is_gone_is_infrastructure(write_eval: WriteEval, grade: Grade) -> None:
    result = await grade(write_eval("def test_it(project): pass"), GONE)
    assert (result.step.status, result.step.failure) == ("infrastructure", "deployment-lost")
    assert "http://127.0.0.1:9" in result.step.excerpt


async def test_a_static_eval_has_only_files(write_eval: WriteEval, grade: Grade) -> None:
    passed = await grade(write_eval("def test_it(files): assert files.paths('convex/*')"))
    assert passed.step.status == "passed"
    broken = await grade(write_eval("def test_it(project): pass"))
    assert broken.broken is not None
    assert "a static eval has only `files`" in broken.broken


async def test_an_eval_without_grader_is_broken(write_eval: WriteEval, grade: Grade) -> None:
    result = await grade(write_eval({}))
    assert (result.step.failure, result.broken) == ("grader-broken", "the eval has no grader")


async def test_a_grader_sees_nothing_of_our_environment(
    write_eval: WriteEval, grade: Grade, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    eval = write_eval(
        """
        import os
        def test_it():
            names = [name for name in sorted(os.environ) if not name.startswith("PYTEST_")]
            assert names == ["HOME", "LANG", "PATH", "TMPDIR", "TZ"]
            assert os.environ["HOME"] == os.getcwd()
            assert os.listdir() == []
        """
    )
    result = await grade(eval)
    assert result.step.status == "passed", result.step.excerpt


async def test_a_suite_may_share_code_between_its_graders(write_eval: WriteEval, grade: Grade, tmp_path: Path) -> None:
    (tmp_path / "evals/grader").mkdir(parents=True)
    (tmp_path / "evals/grader/__init__.py").write_text("")
    (tmp_path / "evals/grader/numbers_.py").write_text("ANSWER = 42")
    eval = write_eval("from grader.numbers_ import ANSWER\ndef test_it(): assert ANSWER == 42")
    result = await grade(eval)
    assert result.step.status == "passed", result.step.log.read_text()


async def test_the_time_of_the_whole_grader_is_limited(
    write_eval: WriteEval, grade: Grade, graded: GradedDeployment
) -> None:
    eval = write_eval(
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_slow(project, number): project.action("messages:slow", ms=600_000)

        def test_last(project): pass
        """
    )
    result = await grade(eval, graded, grader_seconds=5.0)
    assert (result.step.failure, result.tests.passed) == ("tests-failed", 0)
    assert "✗ test_last\n  no time was left: the tests before this one took the 5 s" in result.step.excerpt


async def test_after_the_first_failure_no_test_runs_if_that_is_all_that_is_asked(
    write_eval: WriteEval, grade: Grade
) -> None:
    eval = write_eval(
        """
        def test_first(): pass
        def test_second(): assert 1 == 2
        def test_third(): assert 2 == 3
        """
    )
    result = await grade(eval, order=OrderOfTests(until_failure=True))
    assert (result.step.failure, result.tests.passed, result.tests.total) == ("tests-failed", 1, 3)
    assert "✗ test_second (grader.py:3)" in result.step.excerpt
    assert "✗ test_third\n  skipped, which is not a pass" in result.step.excerpt
    result = await grade(eval, order=OrderOfTests("test_thi", until_failure=True))
    assert (result.tests.passed, result.tests.total) == (0, 3)
    assert "✗ test_third (grader.py:4)" in result.step.excerpt


async def test_the_test_that_is_named_in_full_runs_before_those_whose_names_begin_so(
    write_eval: WriteEval, grade: Grade
) -> None:
    eval = write_eval(
        """
        def test_it_all(): assert 1 == 2
        def test_it(): assert 2 == 3
        """
    )
    result = await grade(eval, order=OrderOfTests("test_it", until_failure=True))
    assert "✗ test_it (grader.py:3)" in result.step.excerpt


async def test_a_grader_that_cannot_be_interrupted_is_killed(write_eval: WriteEval, grade: Grade) -> None:
    eval = write_eval(
        "import signal, time\ndef test_it():\n    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n    time.sleep(600)"
    )
    result = await grade(eval, grader_seconds=5.0)
    assert result.step.failure == "grader-hangs"
    assert "the grader did not end by itself (stopped after" in result.step.excerpt


async def test_graders_leave_no_files_next_to_the_eval(write_eval: WriteEval, grade: Grade) -> None:
    eval = write_eval("def test_it(): pass")
    await grade(eval)
    assert sorted(path.name for path in eval.path.iterdir()) == ["TASK.txt", "answer", "grader.py"]


async def test_tests_are_counted_once_per_version_of_a_grader(write_eval: WriteEval, grade: Grade) -> None:
    eval = write_eval("def test_it(): pass")
    first, second = await grade(eval), await grade(eval)
    assert [len(result.step.commands) for result in (first, second)] == [2, 1]


async def test_many_graders_run_at_the_same_time(write_eval: WriteEval, grade: Grade) -> None:
    meeting = f"/dev/shm/convex-evals-{secrets.token_hex(8)}"
    eval = write_eval(
        f"""
        import os, pathlib, time
        def test_it():
            with open("{meeting}", "a") as place:
                place.write("x")
            while len(open("{meeting}").read()) < 4:
                time.sleep(0.02)
        """
    )
    results = await asyncio.gather(*(grade(eval) for _ in range(4)))
    await asyncio.to_thread(Path(meeting).unlink)
    assert [result.step.status for result in results] == ["passed"] * 4


async def test_cancelling_stops_the_grader(write_eval: WriteEval, grade: Grade, tools: Tools) -> None:
    eval = write_eval("import time\ndef test_it(project): time.sleep(600)")
    warm = await tools.graders.prepare()
    grading = asyncio.create_task(grade(eval))
    await asyncio.to_thread(wait_until, lambda: descendants(warm), "the grader's start", seconds=60)
    grading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await grading
    assert descendants(warm) == []


async def test_a_grader_reaches_no_files_of_others(write_eval: WriteEval, grade: Grade, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    eval = write_eval(
        f"""
        import os, pathlib, pytest

        @pytest.mark.parametrize("path", ["{tmp_path}/secret", "{Path.home()}/.bash_history", "/etc/shadow"])
        def test_files(path):
            with pytest.raises((PermissionError, FileNotFoundError)):
                pathlib.Path(path).read_text()

        def test_writing():
            with pytest.raises(PermissionError):
                pathlib.Path("{tmp_path}/secret").write_text("other")

        def test_processes():
            assert os.getppid() == 1

        def test_settings_of_the_machine():
            with pytest.raises(OSError):
                pathlib.Path("/proc/sys/kernel/hostname").write_text("other")

        """
    )
    result = await grade(eval)
    assert result.step.status == "passed", result.step.excerpt


async def test_names_are_collected_once_per_fingerprint(tmp_path: Path) -> None:
    collected: list[str] = []

    async def collect() -> Collection:
        collected.append("now")
        return Collection(("test_a", "test_b[1]"))

    for fingerprint in ("one", "one", "two"):
        assert (await expected_tests(tmp_path, fingerprint, collect)).names == ("test_a", "test_b[1]")
    assert len(collected) == 2


async def test_a_collection_that_found_nothing_is_tried_again(tmp_path: Path) -> None:
    found = [Collection(()), Collection(("test_a",))]

    async def collect() -> Collection:
        return found.pop(0)

    assert (await expected_tests(tmp_path, "one", collect)).names == ()
    assert (await expected_tests(tmp_path, "one", collect)).names == ("test_a",)
