"""Which programs a grading starts, asked of the kernel while real answers are graded: every one of them is confined."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.examples import exhaustively

from convex_evals.core.settings import read_settings
from convex_evals.pipeline.grade import grade
from convex_evals.pipeline.tools import open_tools
from convex_evals.pipeline.types import Assignment, GradingOptions
from convex_evals.suite import Eval, load_suite, read_answer

OURS = Path(__file__).parents[2] / "evals"
FOREIGN = Path(__file__).parent / "grading/foreign_suite/evals"
OPEN = ("Seccomp:\t0", "NoNewPrivs:\t0")
NAMESPACES = ("pid", "ipc", "user")
SUPERVISOR = "convex_evals.core.supervisor"  # what confines


@contextmanager
def observed(since: float) -> Iterator[dict[str, set[str]]]:
    """Programs started since then, by command line, each with what the kernel does not hold it by."""
    seen: dict[str, set[str]] = {}
    older: dict[int, bool] = {}
    known: dict[int, str] = {}  # a program does not get out of what holds it, so one look is enough
    over = threading.Event()

    def observe() -> None:
        while not over.wait(0.02):
            for process in _started_by_us():
                if process not in older:
                    older[process] = _is_older(process, since)
                if not older[process]:
                    known[process] = _look_at(Path("/proc") / str(process), seen, known.get(process, ""))

    thread = threading.Thread(target=observe)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def _started_by_us() -> Iterator[int]:
    """Below the spawn server: other tests of this process may have a browser of their own."""
    found = [child for child in _children(os.getpid()) if _is_spawn_server(child)]
    for process in found:  # grows while we walk it
        started = _children(process)
        yield from started
        found.extend(started)


def _children(process: int) -> list[int]:
    """As the kernel lists them: to look at every process of the machine takes ten times as long."""
    with suppress(OSError):
        threads = (Path("/proc") / str(process) / "task").iterdir()
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    return []


def _is_spawn_server(process: int) -> bool:
    with suppress(OSError):
        return SUPERVISOR in _command(Path("/proc") / str(process))
    return False


def _is_older(process: int, than: float) -> bool:
    """Other tests of this process may have left tools of theirs open. In seconds since the machine was started."""
    try:
        after_name = (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2]
    except OSError:
        return True
    return int(after_name.split()[19]) + 1 < than * os.sysconf("SC_CLK_TCK")


def _look_at(process: Path, seen: dict[str, set[str]], known: str) -> str:
    """Its command line, unless that could not be read for sure."""
    try:
        command = _command(process)
        if command == known:
            return known
        status = (process / "status").read_text()
        shared = [name for name in NAMESPACES if _namespace(process, name) == _namespace(Path("/proc/self"), name)]
        if _command(process) != command:
            return ""  # it has just become another program
    except OSError:  # it ended meanwhile
        return ""
    if command and SUPERVISOR not in command:
        seen.setdefault(command, set()).update([*shared, *(line for line in OPEN if line in status)])
    return command


def _command(process: Path) -> str:
    return (process / "cmdline").read_text().replace("\0", " ")


def _namespace(process: Path, name: str) -> str:
    return os.readlink(process / "ns" / name)  # noqa: PTH115 - it is no path


def eval_of(suite: Path, name: str) -> Eval:
    (found,) = (each for each in load_suite(suite).evals if each.id.endswith(name))
    return found


GRADED = (
    (OURS, "006-node", ("esbuild", "tsc", "oxlint", "node.mjs", "pipeline.grading")),
    (FOREIGN, "000-crud", ("functions.mjs", "vitest")),
)
PAGE = (OURS, "000-use_query", ("chromium",))


@pytest.mark.parametrize("evals", [GRADED, *exhaustively([*GRADED, PAGE])], ids=["without a page", "with a page"])
async def test_every_program_that_a_grading_starts_is_confined(
    evals: Sequence[tuple[Path, str, Sequence[str]]], tmp_path: Path
) -> None:
    """With Node actions, with vitest graders and with a page, one after the other with the same tools."""
    with observed(time.clock_gettime(time.CLOCK_BOOTTIME)) as seen:
        async with open_tools(read_settings()) as tools:
            for suite, name, _ in evals:
                eval = eval_of(suite, name)
                graded = await grade(Assignment(eval, read_answer(eval), GradingOptions(), tmp_path / name), tools)
                assert graded.status == "passed", (name, [step.excerpt for step in graded.steps])
    expected = [program for _, _, programs in evals for program in programs]
    assert [program for program in expected if not any(program in command for command in seen)] == []
    assert {command: loose for command, loose in seen.items() if loose} == {}
