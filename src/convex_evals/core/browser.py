"""Chromium for pages that must be seen: found on this machine, or installed from Debian."""

import os
import shutil
from pathlib import Path
from typing import Final

from convex_evals.core.errors import BrowserError
from convex_evals.core.file_lock import file_lock
from convex_evals.core.processes import ProcessResult, base_environment, run
from convex_evals.core.settings import Settings

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Without these, Chromium calls home at every start, which fails slowly where there is no internet.
FLAGS: Final = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
INSTALL_SECONDS: Final = 600.0
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # dpkg needs the folders of root
_INSTALL: Final = ("apt-get", "install", "-qq", "--yes", "--no-install-recommends", "chromium")
_OPTIONS: Final = ("-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=2", "-o", "Dpkg::Use-Pty=0")
_REPAIRS: Final = (("dpkg", "--configure", "-a"), ("apt-get", "update", "-qq", *_OPTIONS))


def find_chromium(settings: Settings) -> Path | None:
    """The first browser of the Chromium family on PATH; never installs."""
    found = (shutil.which(name, path=settings.search_path) for name in NAMES)
    return next((Path(path) for path in found if path is not None), None)


async def prepare_chromium(settings: Settings, *, timeout: float = INSTALL_SECONDS) -> Path:
    """Chromium, installed first if need be and if this is root on Debian. Raises BrowserError when it cannot be had."""
    found = find_chromium(settings)
    if found is not None:
        return found
    _require_debian_root(settings)
    settings.cache_folder.mkdir(parents=True, exist_ok=True)
    async with file_lock(settings.cache_folder / "chromium.lock"):
        found = find_chromium(settings)  # another process may have installed it while we waited
        if found is None:
            await _install(settings, timeout)
            found = find_chromium(settings)
    if found is None:
        raise BrowserError("Chromium was installed but is not on PATH; add the folder of `chromium` to PATH.")
    return found


def sandboxes_itself() -> bool:
    """Chromium refuses to start for root unless it is told --no-sandbox."""
    return os.geteuid() != 0


def _require_debian_root(settings: Settings) -> None:
    advice = "install a package of that name, or Google Chrome"
    if shutil.which("apt-get", path=f"{settings.search_path}:{_PATH}") is None:
        raise BrowserError(f"Chromium is not on PATH, and there is no apt-get to install it with; {advice}.")
    if os.geteuid() != 0:
        raise BrowserError("Chromium is not on PATH, and only root can install it; run: sudo apt-get install chromium")


async def _install(settings: Settings, timeout: float) -> None:
    result = await _run(settings, (*_INSTALL, *_OPTIONS), timeout)
    if not result.ok and not result.timed_out:
        # The usual reasons: an outdated list of packages, or an installation that was interrupted.
        for repair in _REPAIRS:
            await _run(settings, repair, timeout)
        result = await _run(settings, (*_INSTALL, *_OPTIONS), timeout)
    if not result.ok:
        lines = result.output.text.strip().splitlines()
        reason = result.ending if result.timed_out or not lines else lines[-1].removeprefix("E: ")
        raise BrowserError(f"Chromium is not on PATH, and apt-get cannot install it: {reason}")


async def _run(settings: Settings, command: tuple[str, ...], timeout: float) -> ProcessResult:
    extra = {"DEBIAN_FRONTEND": "noninteractive", **settings.network_environment()}
    environment = base_environment(settings.home, extra, path=_PATH)
    return await run(command, cwd=Path("/"), timeout=timeout, environment=environment)
