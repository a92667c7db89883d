"""Chromium, for pages that must be seen: where it is, and how it is started."""

import shutil
from pathlib import Path
from typing import Final

from convex_evals.core.distribution import BROWSER
from convex_evals.core.settings import Settings
from convex_evals.core.supervisor import landlock_abi

# The first is Chromium without what only windows need: pages are the same, for less than half of the CPU time.
NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL: Final = f"apt-get install {NAMES[0]}"
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
NO_LANDLOCK: Final = "without Landlock, nothing keeps Chromium from the files of this machine"
# What it reads besides the files of the system: fonts, and its own settings.
FILES: Final = tuple(
    Path(path)
    for path in ("/etc/fonts", "/var/cache/fontconfig", "/etc/chromium", "/etc/chromium.d", "/etc/opt/chrome")
)


def find_chromium(settings: Settings) -> Path | None:
    """The first browser of the Chromium family on PATH."""
    found = (shutil.which(name, path=settings.search_path) for name in NAMES)
    return next((Path(path) for path in found if path is not None), None)


def why_blind(settings: Settings) -> str | None:
    """Why graders cannot look at pages on this machine, as a clause; None if they can."""
    if not BROWSER.is_installed:
        return BROWSER.advice
    if find_chromium(settings) is None:
        return "there is no Chromium on this machine"
    return None if landlock_abi() else NO_LANDLOCK
