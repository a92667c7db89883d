"""What a Python grader may reach: its own eval, the model's files, Python, and a folder of its own.

The warm process is in namespaces of its own and without dangerous system calls; each grader that is forked from it also
leaves all files behind that are not its business.
"""

import sys
from pathlib import Path
from typing import Final

from convex_evals.core.browser import FILES
from convex_evals.core.processes import Confinement
from convex_evals.core.supervisor import landlock_abi, restrict_files
from convex_evals.pipeline.grading.python.job import Job

EVERYTHING: Final = Path("/")
WARM: Final = Confinement(read=(EVERYTHING,), write=(EVERYTHING,), nested=True)
"""Of the process that graders are forked from; it meets nothing a model wrote. Browsers make namespaces."""
FOR_BROWSERS: Final = (Path("/dev/shm"), Path("/proc"))  # settings of the machine in /proc are read-only by then


def confine(job: Job) -> None:
    """From now on, for this process and everything it starts."""
    version = landlock_abi()
    if version:
        allowed = Confinement(
            read=(*_python(), *_business(job)), write=(job.private, job.home, *FOR_BROWSERS)
        ).to_wire()
        restrict_files(allowed["read"] or [], allowed["write"], version)


def _python() -> set[Path]:
    """The installation, its packages and our own."""
    places = (sys.prefix, sys.base_prefix, *(path for path in sys.path if path))
    return {Path(place).resolve() for place in places} | {Path(sys.executable).resolve().parents[1]}


def _business(job: Job) -> list[Path]:
    own = [job.grader.parent, *([job.imports / "grader"] if job.imports else []), *FILES]
    if job.files is not None:
        own.append(job.files)
    if job.chromium is not None:
        own.append(job.chromium.resolve().parent)
    return own
