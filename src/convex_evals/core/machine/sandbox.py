"""Which mechanisms this machine has to confine answers. Each is tried, not guessed from version numbers.

What must hold for code that a model wrote: (a) nothing on the host changes or leaks, (b) no answer influences a verdict
but by being right, (c) what an answer does to itself is its own failure.
"""

import asyncio
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ProcessError, ProcessLimitError
from convex_evals.core.processes import UNCONFINED, Confinement, Limits, ProcessResult, base_environment, run
from convex_evals.core.processes.process import UNLIMITED, Argument
from convex_evals.core.supervisor import landlock
from convex_evals.core.toolchain import Node

PROBE_SECONDS: Final = 60.0
_PORT: Final = 9
_LIMITS: Final = Limits(cpu_seconds=60, file_size=1_000_000, data=10**9, open_files=64)

LANDLOCK_FIX: Final = "boot Linux 5.13 or newer with lsm=landlock"
_NAMESPACES_FIX: Final = "sysctl -w user.max_user_namespaces=10000 kernel.apparmor_restrict_unprivileged_userns=0"
_SECCOMP_FIX: Final = "use x86-64 or arm64 Linux whose kernel has CONFIG_SECCOMP_FILTER"


@dataclass(frozen=True, slots=True)
class SandboxSupport:
    """What worked when it was tried. `landlock` is the version of its interface, or 0."""

    landlock: int = 0
    mounts: bool = False
    """A file system with nothing in it but what may be reached: the layer for files where Landlock is missing."""
    process_namespaces: bool = False
    network_namespaces: bool = False
    seccomp: bool = False
    scratch: bool = False
    limits: bool = False

    @property
    def files(self) -> bool:
        return self.landlock > 0 or self.mounts

    @property
    def missing(self) -> tuple[str, ...]:
        """What no mechanism here covers, as clauses."""
        return tuple(mechanism.lack for mechanism in MECHANISMS if not mechanism.works(self))

    @property
    def is_complete(self) -> bool:
        return not self.missing


@dataclass(frozen=True, slots=True)
class Mechanism:
    """`field` of SandboxSupport says whether it works. `needed_for` are those of (a), (b), (c) that rest on it."""

    name: str
    field: str
    needed_for: str
    lack: str
    fix: str

    def works(self, support: SandboxSupport) -> bool:
        return bool(getattr(support, self.field))


MECHANISMS: Final = (
    Mechanism("files", "files", "ab", "neither Landlock nor mounts of its own confine its files", LANDLOCK_FIX),
    Mechanism(
        "processes",
        "process_namespaces",
        "abc",
        "no PID namespace keeps it from other processes",
        _NAMESPACES_FIX,
    ),
    Mechanism("network", "network_namespaces", "ab", "no network namespace keeps it from the network", _NAMESPACES_FIX),
    Mechanism("system calls", "seccomp", "ab", "seccomp does not filter its system calls", _SECCOMP_FIX),
    Mechanism("scratch space", "scratch", "ac", "its scratch space is not bounded", _NAMESPACES_FIX),
    Mechanism("resource limits", "limits", "ac", "its processor time and memory are not limited", "raise `ulimit -H`"),
)
GUARANTEES: Final = {
    "a": "nothing on this machine changes or leaks",
    "b": "no answer influences a verdict but by being right",
    "c": "what an answer does to itself is its own failure",
}


async def probe_sandbox() -> SandboxSupport:
    """Raises ProcessError when not even an unconfined program can be started, which says nothing about confinement."""
    with tempfile.TemporaryDirectory(prefix="convex-evals-probe-") as name:
        folder = Path(name)
        canary, scratch = folder / "canary", folder / "scratch"
        canary.write_text("canary")
        scratch.mkdir()
        rules, mounts, processes, network, seccomp, bounded, limits = await asyncio.gather(
            _hides(canary, Confinement(read=(), strict=False)),
            _hides(canary, Confinement(read=(), landlock=False)),
            _works(["sh", "-c", "test $$ = 1"], confinement=Confinement(read=())),
            _works(["true"], confinement=Confinement(network="own", ports=(_PORT,))),
            _filters_calls(),
            _bounds_scratch(scratch),
            _works(["true"], _LIMITS),
        )
    if not all((rules or mounts, processes, network, seccomp, bounded, limits)):
        await _start(["true"])
    return SandboxSupport(
        landlock=landlock.abi() if rules else 0,
        mounts=mounts,
        process_namespaces=processes,
        network_namespaces=network,
        seccomp=seccomp,
        scratch=bounded,
        limits=limits,
    )


async def _hides(canary: Path, confinement: Confinement) -> bool:
    """Whether a program runs in it and cannot read a file that it was not given."""
    script = 'cat "$0" 2>/dev/null || echo hidden'
    result = await _run(["sh", "-c", script, canary], confinement=confinement)
    return result is not None and result.ok and result.output.text == "hidden\n"


async def _filters_calls() -> bool:
    """Whether a confined program has one filter more than this process."""
    result = await _run(["cat", "/proc/self/status"], confinement=Confinement(read=(), strict=False))
    if result is None or not result.ok:
        return False
    ours = await asyncio.to_thread(Path("/proc/self/status").read_text)
    return _filters(result.output.text) > _filters(ours)


def _filters(status: str) -> int:
    """Kernels before 5.9 only say whether there is one."""
    found = re.search(r"^Seccomp_filters:\s*(\d+)", status, re.MULTILINE)
    return int(found[1]) if found else int("Seccomp:\t2" in status)


async def _bounds_scratch(scratch: Path) -> bool:
    """Whether it accepts some data, refuses more, and leaves nothing behind."""
    script = 'cd "$0" && echo x > small && ! head -c 2000000 /dev/zero > large'
    confinement = Confinement(read=(), scratch=scratch, scratch_bytes=1_000_000)
    worked = await _works(["sh", "-c", script, scratch], confinement=confinement)
    return worked and not await asyncio.to_thread(os.listdir, scratch)


async def permissions_work(node: Node | None) -> bool:
    return node is not None and await _works([node.executable, "--permission", "--eval", "0"])


async def _works(
    arguments: Sequence[Argument], limits: Limits = UNLIMITED, confinement: Confinement = UNCONFINED
) -> bool:
    result = await _run(arguments, limits, confinement)
    return result is not None and result.ok


async def _run(
    arguments: Sequence[Argument], limits: Limits = UNLIMITED, confinement: Confinement = UNCONFINED
) -> ProcessResult | None:
    """None when it could not be started like this."""
    try:
        return await _start(arguments, limits, confinement)
    except ProcessLimitError:
        raise
    except ProcessError:
        return None


async def _start(
    arguments: Sequence[Argument], limits: Limits = UNLIMITED, confinement: Confinement = UNCONFINED
) -> ProcessResult:
    return await run(
        arguments,
        cwd=Path("/"),
        timeout=PROBE_SECONDS,
        environment=base_environment(Path("/nonexistent")),
        limits=limits,
        confinement=confinement,
    )
