"""Processes of their own that start quickly: each is forked from one that has loaded the scores and nothing else."""

import multiprocessing
import runpy
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

_FORKED = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload(["convex_evals.scores.schema", "convex_evals.scores.store", "psycopg"])
_WORK = Path(__file__).with_name("other_work.py")
SECONDS = 200


@dataclass
class Other:
    process: ForkServerProcess
    line: Connection

    def hear(self) -> Any:
        """What it says next. Raises EOFError when it says nothing more."""
        assert self.line.poll(SECONDS)
        return self.line.recv()

    def hear_all(self) -> list[Any]:
        """What it says until it has ended; of what it could not end saying, nothing."""
        heard = []
        with suppress(EOFError, OSError):
            while True:
                heard.append(self.hear())
        self.process.join(SECONDS)
        return heard


@contextmanager
def other_process(work: Callable[..., None], *arguments: object) -> Iterator[Other]:
    """It does `work(line, *arguments)`, a function of `other_work.py`, and is killed when the block ends."""
    here, there = _FORKED.Pipe()
    asked = {"ASKED": (work.__name__, there, arguments)}
    process = _FORKED.Process(target=runpy.run_path, args=(str(_WORK), asked, "other_work"))
    process.start()
    there.close()
    try:
        yield Other(process, here)
    finally:
        process.kill()
        process.join()
        here.close()
