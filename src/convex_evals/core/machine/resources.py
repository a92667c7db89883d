"""How much disk and memory there is."""

import os
import shutil
from pathlib import Path
from typing import Final

from convex_evals.core.machine.fact import Fact, Status

GIGABYTE: Final = 1_000_000_000
# The toolchain takes 0.6 GB with npm's downloads; runs and dependency caches come on top.
DISK_NEEDED: Final = 1 * GIGABYTE
DISK_COMFORTABLE: Final = 3 * GIGABYTE
MEMORY_NEEDED: Final = GIGABYTE // 2
MEMORY_COMFORTABLE: Final = 2 * GIGABYTE
_MEMORY_INFO: Final = Path("/proc/meminfo")
_CONTAINER: Final = Path("/sys/fs/cgroup")


def disk_fact(cache_folder: Path) -> Fact:
    existing = next(folder for folder in (cache_folder, *cache_folder.parents) if folder.is_dir())
    free = shutil.disk_usage(existing).free
    fix = "free some space, or set CONVEX_EVALS_CACHE to a folder on another disk"
    detail = f"{_gigabytes(free)} free for {cache_folder}"
    if not os.access(existing, os.W_OK):
        return Fact(
            "Disk", Status.MISSING, f"{existing} is not writable", "set CONVEX_EVALS_CACHE to a folder of yours"
        )
    return _graded("Disk", free, DISK_NEEDED, DISK_COMFORTABLE, detail, fix)


def memory_fact() -> Fact:
    available = available_memory()
    detail = f"{_gigabytes(available)} available"
    fix = "close other programs, or run fewer jobs with --jobs 1"
    return _graded("Memory", available, MEMORY_NEEDED, MEMORY_COMFORTABLE, detail, fix)


def available_memory() -> int:
    """Bytes that new processes can use; inside a container, what its limit leaves."""
    left = [_machine_memory()]
    if (limit := _container_figure("memory.max")) is not None:
        left.append(limit - (_container_figure("memory.current") or 0))
    return max(min(left), 0)


def _machine_memory() -> int:
    if _MEMORY_INFO.exists():
        for line in _MEMORY_INFO.read_text().splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return int(rest.split()[0]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _container_figure(name: str) -> int | None:
    try:
        text = (_CONTAINER / name).read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _graded(name: str, amount: int, needed: int, comfortable: int, detail: str, fix: str) -> Fact:
    if amount >= comfortable:
        return Fact(name, Status.OK, detail)
    status = Status.WARNING if amount >= needed else Status.MISSING
    return Fact(name, status, f"{detail}; {_gigabytes(comfortable)} are recommended", fix)


def _gigabytes(amount: int) -> str:
    return f"{amount / GIGABYTE:.1f} GB"
