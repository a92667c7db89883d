"""From fork to pytest: what happens in the process of one grader."""

import os
import resource
import sys
import traceback
from typing import Final, NoReturn

from convex_evals.core.processes import Limits, base_environment
from convex_evals.pipeline.grading.python.confinement import confine
from convex_evals.pipeline.grading.python.job import Job

MEGABYTE: Final = 1024 * 1024
CRASHED: Final = 70


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
        cpu_seconds=int(job.grader_seconds) + 10, file_size=64 * MEGABYTE, data=2048 * MEGABYTE, open_files=1024
    )
    for name, bounds in limits.bounds().items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), bounds)
