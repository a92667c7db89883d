"""The process of one Python grader: what it is told, what it may reach, and how it gets from fork to pytest.

The warm process is in namespaces of its own and without dangerous system calls; each grader that is forked from it also
gives up access to all files that it does not need.
"""

import json
import os
import resource
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from convex_evals.core.browser import FILES
from convex_evals.core.files import MEBIBYTE
from convex_evals.core.plain import from_plain, to_plain
from convex_evals.core.processes import Confinement, Limits, base_environment
from convex_evals.core.supervisor import landlock_abi, restrict_files
from convex_evals.pipeline.grading.types import AS_WRITTEN, BuiltApp, GradedDeployment, OrderOfTests
from convex_evals.pipeline.types import STRETCH

CRASHED: Final = 70
EVERYTHING: Final = Path("/")
WARM: Final = Confinement(read=(EVERYTHING,), write=(EVERYTHING,), nested=True)
"""Of the process that graders are forked from; it meets nothing a model wrote. Browsers make namespaces."""
FOR_BROWSERS: Final = (Path("/dev/shm"), Path("/proc"))  # settings of the machine in /proc are read-only by then


@dataclass(frozen=True, slots=True)
class Job:
    """With `collect_only` the tests are named, not run, and no deployment is needed."""

    grader: Path
    suite: Path
    imports: Path | None  # the folder whose packages the grader may import: the suite's shared `grader/`
    report: Path
    log: Path
    home: Path
    site: BuiltApp | None = None  # the web app, for graders that look at one
    chromium: Path | None = None
    blind: str | None = None  # why pages cannot be looked at
    files: Path | None = None
    project: GradedDeployment | None = None
    answer: GradedDeployment | None = None
    given: GradedDeployment | None = None
    written_tests: Path | None = None  # the socket behind which tests that the model wrote are run
    type_checks: Path | None = None  # the socket behind which code of the grader is compiled with the model's
    test_seconds: float = 60.0
    grader_seconds: float = 300.0
    collect_only: bool = False
    order: OrderOfTests = AS_WRITTEN

    @property
    def private(self) -> Path:
        """All that the grader may write to, besides `home`."""
        return self.report.parent

    @property
    def given_push(self) -> Path:
        return self.private / "given.push.json"

    @property
    def project_push(self) -> Path:
        return self.private / "project.push.json"

    @property
    def temporary(self) -> Path:
        """Gone with the grader, however that ends."""
        return self.private / "tmp"

    @property
    def longest_seconds(self) -> float:
        """Until it is killed. By its own limits it ends earlier, also on a busy machine."""
        return self.grader_seconds * STRETCH

    def dumps(self) -> str:
        return json.dumps(to_plain(self))

    @classmethod
    def loads(cls, text: str) -> "Job":
        return from_plain(cls, json.loads(text))


def become_grader(job: Job) -> NoReturn:
    """Never returns: the process ends with pytest's exit code."""
    code = CRASHED
    try:
        os.setpgid(0, 0)
        _connect(job)
        os.environ.clear()
        job.temporary.mkdir(exist_ok=True)
        os.environ.update(base_environment(job.home, {"TMPDIR": str(job.temporary)}))
        os.chdir(job.home)
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        _limit(job)
        confine(job)
        from convex_evals.pipeline.grading.python.session import run_session

        code = run_session(job)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _connect(job: Job) -> None:
    """Nothing to read, and all output into the log; the host's own connection is closed."""
    log = os.open(job.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def _limit(job: Job) -> None:
    limits = Limits(
        cpu_seconds=int(job.grader_seconds) + 10, file_size=64 * MEBIBYTE, data=2048 * MEBIBYTE, open_files=1024
    )
    for name, bounds in limits.bounds().items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), bounds)


def confine(job: Job) -> None:
    """From now on, for this process and everything it starts."""
    version = landlock_abi()
    if version:
        allowed = Confinement(
            read=(*_python(), *_readable_paths(job)), write=(job.private, job.home, *FOR_BROWSERS)
        ).to_wire()
        restrict_files(allowed["read"] or [], allowed["write"], version)


def _python() -> set[Path]:
    """The installation, its packages and our own."""
    places = (sys.prefix, sys.base_prefix, *(path for path in sys.path if path))
    return {Path(place).resolve() for place in places} | {Path(sys.executable).resolve().parents[1]}


def _readable_paths(job: Job) -> list[Path]:
    own = [job.grader.parent, *([job.imports / "grader"] if job.imports else []), *FILES]
    if job.files is not None:
        own.append(job.files)
    if job.chromium is not None:
        own.append(job.chromium.resolve().parent)
    return own
