"""Chromium for tests of pages: found on this machine, or installed from Debian."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from convex_evals.core.browser import find_chromium
from convex_evals.core.files import file_lock
from convex_evals.core.processes import ProcessResult, base_environment, run
from convex_evals.core.settings import Settings

INSTALL_SECONDS: Final = 600.0
ROOT_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # dpkg insists on the sbin folders
_OPTIONS: Final = ("-qq", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=2", "-o", "Dpkg::Use-Pty=0")
_INSTALL: Final = ("apt-get", "install", *_OPTIONS, "--yes", "--no-install-recommends")
_PACKAGES: Final = ("chromium-headless-shell", "chromium")  # older systems do not have the first
# For the usual reasons why it fails: an installation that was interrupted, and an outdated list of packages.
_REPAIRS: Final = (("dpkg", "--configure", "-a"), ("apt-get", "update", *_OPTIONS))


class NoChromium(Exception):
    """There is none and none can be installed: one sentence that says why."""


def sandboxes_itself() -> bool:
    """Chromium refuses to start for root unless it is told --no-sandbox."""
    return os.geteuid() != 0


async def prepare_chromium(settings: Settings, *, timeout: float = INSTALL_SECONDS, root_path: str = ROOT_PATH) -> Path:
    """Chromium, installed first if need be and if we are root on Debian. Raises NoChromium when it cannot be had."""
    found = find_chromium(settings)
    if found is not None:
        return found
    _require_debian_and_root(root_path)
    settings.cache_folder.mkdir(parents=True, exist_ok=True)
    async with file_lock(settings.cache_folder / "chromium.lock"):
        found = find_chromium(settings)  # another process may have installed it while we waited
        if found is None:
            await _install(settings, timeout, root_path)
            found = find_chromium(settings)
    if found is None:
        raise NoChromium("Chromium was installed, but not into a folder on PATH; add the one that has `chromium`.")
    return found


def _require_debian_and_root(root_path: str) -> None:
    if shutil.which("apt-get", path=root_path) is None:
        raise NoChromium("Chromium is not on PATH, and there is no apt-get; please install Chromium or Chrome.")
    if os.geteuid() != 0:
        raise NoChromium("Chromium is not on PATH, and only root can install it; run: sudo apt-get install chromium")


async def _install(settings: Settings, timeout: float, root_path: str) -> None:
    extra = {"DEBIAN_FRONTEND": "noninteractive", **settings.network_environment()}
    environment = base_environment(settings.home, extra, path=root_path)
    try:
        async with asyncio.timeout(timeout):
            result = await _install_one(environment)
            if not result.ok:
                for repair in _REPAIRS:
                    await _run(repair, environment)
                result = await _install_one(environment)
    except TimeoutError:
        raise NoChromium(f"Chromium is not on PATH, and apt-get did not install it in {timeout:g} s.") from None
    if not result.ok:
        raise NoChromium(f"Chromium is not on PATH, and apt-get cannot install it: {_reason(result)}")


async def _install_one(environment: Mapping[str, str]) -> ProcessResult:
    """The first package that can be installed."""
    for package in _PACKAGES:
        result = await _run((*_INSTALL, package), environment)
        if result.ok:
            break
    return result


async def _run(command: tuple[str, ...], environment: Mapping[str, str]) -> ProcessResult:
    return await run(command, cwd=Path("/"), timeout=None, environment=environment)


def _reason(result: ProcessResult) -> str:
    complaints = [line for line in result.output.text.splitlines() if line.startswith("E: ")]
    return complaints[-1].removeprefix("E: ") if complaints else result.ending
