import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from convex_evals.core.processes import Limits, ProcessResult, run

UNLIMITED = Limits()
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., Awaitable[ProcessResult]]:
    """Runs a piece of Python as a program in `tmp_path`."""

    async def run_python(
        source: str, *, timeout: float | None = 100, limits: Limits = UNLIMITED, stdin: bytes = b"", grace: float = 0.2
    ) -> ProcessResult:
        return await run(
            [sys.executable, "-I", "-S", "-c", source],
            cwd=tmp_path,
            timeout=timeout,
            limits=limits,
            stdin=stdin,
            grace=grace,
            environment=ENVIRONMENT,
        )

    return run_python


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., Awaitable[ProcessResult]]:
    async def run_shell(script: str, *, timeout: float | None = 100, grace: float = 0.2) -> ProcessResult:
        return await run(["sh", "-c", script], cwd=tmp_path, timeout=timeout, grace=grace, environment=ENVIRONMENT)

    return run_shell


@pytest.fixture
def is_alive() -> Callable[[int], bool]:
    def alive(pid: int) -> bool:
        """Alive and not a zombie; a pid that nobody has is not alive."""
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):  # it may also end between opening and reading
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return False
            return not Path("/proc").is_dir()
        return state != "Z"

    return alive
