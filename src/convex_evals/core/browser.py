"""Chromium, for pages that must be seen: where it is, and how it is started."""

import shutil
from pathlib import Path
from typing import Final

from convex_evals.core.distribution import BROWSER
from convex_evals.core.settings import Settings

# The first is Chromium without what only windows need: pages are the same, for less than half of the CPU time.
NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL: Final = f"apt-get install {NAMES[0]}"
BLIND: Final = "-blind"
# Without these, Chromium calls home at every start, which fails slowly where there is no internet.
FLAGS: Final = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Every other address fails: names are not resolved, and whatever needs no name is sent to a proxy that is not there.
ONLY_THIS_MACHINE: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--proxy-server=http://127.0.0.1:9",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
# What it reads besides the files of the system: fonts, and its own settings.
FILES: Final = tuple(
    Path(path)
    for path in ("/etc/fonts", "/var/cache/fontconfig", "/etc/chromium", "/etc/chromium.d", "/etc/opt/chrome")
)


def find_chromium(settings: Settings) -> Path | None:
    """The first browser of the Chromium family on PATH."""
    found = (shutil.which(name, path=settings.search_path) for name in NAMES)
    return next((Path(path) for path in found if path is not None), None)


def can_look_at_pages(settings: Settings) -> bool:
    return BROWSER.is_installed and find_chromium(settings) is not None


def graded_with(toolchain: str, settings: Settings) -> str:
    """The fingerprint of a toolchain, if pages are looked at as well; else another one: such results are not alike."""
    return toolchain if can_look_at_pages(settings) else f"{toolchain}{BLIND}"


def as_with_browser(fingerprint: str) -> str:
    """What `graded_with` says of the same tools where pages are looked at: that of results for which it is all one."""
    return fingerprint.removesuffix(BLIND)
