import asyncio
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.browser import find_chromium, why_blind
from convex_evals.core.distribution import Extra
from convex_evals.core.settings import Settings

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root installs Chromium")

# Stand-ins for Debian's programs: what they do to the machine cannot be undone after a test.
INSTALLS = 'echo "$@" >> "{log}"; sleep 0.2; printf "#!/bin/sh" > "{browsers}/chromium"; chmod +x "{browsers}/chromium"'
NEEDS_AN_UPDATE = """
echo "$1" >> "{log}"
[ "$1" = update ] && touch "{browsers}/updated"
[ -e "{browsers}/updated" ] || { echo "E: Unable to locate package chromium"; exit 100; }
printf "#!/bin/sh" > "{browsers}/chromium"; chmod +x "{browsers}/chromium"
"""
FAILS = 'echo "W: never mind"; echo "E: No space left"; echo "done"; exit 100'


class Machine:
    """Folders of its own for browsers, for root's programs and for the cache."""

    def __init__(self, folder: Path, setup: Any) -> None:
        self._setup = setup
        self.browsers, self.programs, self.log = folder / "browsers", folder / "programs", folder / "log"
        self.browsers.mkdir()
        self.programs.mkdir()
        self.settings = Settings(home=folder, cache_folder=folder / "cache", search_path=str(self.browsers))

    def browser(self, name: str) -> Path:
        return self._program(self.browsers / name, "")

    def apt(self, script: str) -> None:
        for name, body in (("apt-get", script), ("dpkg", 'echo "dpkg $1" >> "{log}"')):
            text = body.replace("{log}", str(self.log)).replace("{browsers}", str(self.browsers))
            self._program(self.programs / name, text)

    async def prepare(self, timeout: float = 20) -> Path:
        path = f"{self.programs}:/usr/bin:/bin" if any(self.programs.iterdir()) else str(self.programs)
        found: Path = await self._setup.prepare_chromium(self.settings, timeout=timeout, root_path=path)
        return found

    @property
    def calls(self) -> list[str]:
        return self.log.read_text().splitlines()

    @staticmethod
    def _program(path: Path, script: str) -> Path:
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path


@pytest.fixture
def machine(tmp_path: Path, chromium_setup: Any) -> Machine:
    return Machine(tmp_path, chromium_setup)


@pytest.mark.parametrize(
    ("present", "chosen"),
    [
        (["chromium"], "chromium"),
        (["chromium-browser"], "chromium-browser"),
        (["google-chrome"], "google-chrome"),
        (["google-chrome-stable"], "google-chrome-stable"),
        (["google-chrome", "chromium-browser", "chromium"], "chromium"),
        (["chromium", "chromium-headless-shell"], "chromium-headless-shell"),
        (["firefox"], None),
        ([], None),
    ],
)
def test_a_browser_is_found_on_the_path(machine: Machine, present: list[str], chosen: str | None) -> None:
    for name in present:
        machine.browser(name)
    assert find_chromium(machine.settings) == (machine.browsers / chosen if chosen else None)


@pytest.mark.parametrize(
    ("lacks", "reason"),
    [
        ("nothing", None),
        ("chromium", "there is no Chromium"),
        ("playwright", r"the extra \[browser\] is not installed"),
    ],
)
def test_what_is_missing_to_look_at_pages_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, lacks: str, reason: str | None
) -> None:
    if lacks != "chromium":
        machine.browser("chromium")
    if lacks == "playwright":
        monkeypatch.setattr("convex_evals.core.browser.BROWSER", Extra("browser", "not_there", "graders"))
    why = why_blind(machine.settings)
    assert why is None if reason is None else re.match(reason, why or "")


async def test_a_browser_that_is_there_is_not_installed_again(machine: Machine) -> None:
    machine.apt(FAILS)
    chrome = machine.browser("google-chrome")
    assert await machine.prepare() == chrome


@only_root
async def test_a_missing_browser_is_installed_once_however_many_ask(machine: Machine) -> None:
    machine.apt(INSTALLS)
    found = await asyncio.gather(*(machine.prepare() for _ in range(3)))
    assert set(found) == {machine.browsers / "chromium"}
    [call] = machine.calls
    assert call.startswith("install -qq")
    assert call.endswith("--yes --no-install-recommends chromium-headless-shell")


@only_root
async def test_an_outdated_list_of_packages_is_renewed(machine: Machine) -> None:
    machine.apt(NEEDS_AN_UPDATE)
    assert await machine.prepare() == machine.browsers / "chromium"
    assert machine.calls == ["install", "install", "dpkg --configure", "update", "install"]


@only_root
async def test_a_system_without_the_smaller_package_gets_the_whole_browser(machine: Machine) -> None:
    machine.apt(f'case "$*" in *headless*) echo "E: Unable to locate package"; exit 100;; esac; {INSTALLS}')
    assert await machine.prepare() == machine.browsers / "chromium"
    [call] = machine.calls
    assert call.endswith(" chromium")


@only_root
@pytest.mark.parametrize(
    ("script", "message"),
    [
        (FAILS, "Chromium is not on PATH, and apt-get cannot install it: No space left"),
        ("exit 7", "Chromium is not on PATH, and apt-get cannot install it: exit code 7"),
        ("sleep 60", "Chromium is not on PATH, and apt-get did not install it in 0.5 s."),
        ("true", "Chromium was installed, but not into a folder on PATH; add the one that has `chromium`."),
    ],
)
async def test_a_failed_installation_says_why(machine: Machine, chromium_setup: Any, script: str, message: str) -> None:
    machine.apt(script)
    with pytest.raises(chromium_setup.NoChromium) as failure:
        await machine.prepare(timeout=0.5 if "sleep" in script else 60)
    assert str(failure.value) == message


async def test_without_apt_get_the_error_says_what_to_do(machine: Machine, chromium_setup: Any) -> None:
    with pytest.raises(chromium_setup.NoChromium) as failure:
        await machine.prepare()
    assert str(failure.value) == (
        "Chromium is not on PATH, and there is no apt-get; please install Chromium or Chrome."
    )


@pytest.fixture
def as_nobody() -> Iterator[None]:
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield
    os.seteuid(user)


@pytest.mark.skipif(
    shutil.which("apt-get", path="/usr/local/bin:/usr/bin:/bin") is None, reason="this machine has no apt-get"
)
@pytest.mark.usefixtures("as_nobody")
async def test_others_are_told_what_root_must_do(chromium_setup: Any) -> None:
    nowhere = Path("/nonexistent")
    with pytest.raises(chromium_setup.NoChromium) as failure:
        await chromium_setup.prepare_chromium(Settings(home=nowhere, cache_folder=nowhere, search_path=str(nowhere)))
    assert str(failure.value) == (
        "Chromium is not on PATH, and only root can install it; run: sudo apt-get install chromium"
    )
    assert chromium_setup.sandboxes_itself()


@only_root
def test_root_runs_chromium_without_its_sandbox(chromium_setup: Any) -> None:
    assert not chromium_setup.sandboxes_itself()
