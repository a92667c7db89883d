"""A machine without Chromium: pages cannot be looked at, and whoever relies on the verdicts is told so."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.core.browser import NAMES
from convex_evals.core.settings import Settings, read_settings
from convex_evals.runner import toolchain_fingerprint

Command = Callable[..., subprocess.CompletedProcess[str]]
EVALS = Path(__file__).parents[2] / "evals"
PAGE = ("--evals", EVALS, "--filter", "^006-clients/000")


@pytest.fixture
def no_browser(tmp_path: Path) -> str:
    """A search path with everything that this machine has, but no browser."""
    folder = tmp_path / "programs"
    folder.mkdir()
    search_path = read_settings().search_path or ""
    for program in (each for part in search_path.split(":") if part for each in Path(part).glob("*")):
        if program.name not in NAMES and not (folder / program.name).exists():
            (folder / program.name).symlink_to(program)
    return str(folder)


def test_a_run_says_which_evals_passed_without_a_look_at_their_pages(installed: Command, no_browser: str) -> None:
    result = installed("run", "--model", "reference", *PAGE, PATH=no_browser)
    assert result.returncode == 0, result.stderr
    assert "1 eval passed without a look at the pages (006-clients/000-use_query)" in result.stdout
    assert "convex-evals doctor` says what is missing to see them" in result.stdout


def test_results_with_and_without_a_look_at_the_pages_are_not_compared(tmp_path: Path) -> None:
    found = tmp_path / NAMES[0]
    found.touch(0o755)
    settings = Settings(home=tmp_path, cache_folder=tmp_path)
    with_browser, without = (replace(settings, search_path=path) for path in (str(tmp_path), "/nowhere"))
    assert toolchain_fingerprint("tools", with_browser) == "tools"
    assert toolchain_fingerprint("tools", without) != "tools"


def test_a_benchmark_version_needs_a_look_at_the_pages(installed: Command, no_browser: str) -> None:
    assert installed("validate", *PAGE, PATH=no_browser).returncode == 0
    result = installed("benchmark", "mint", "v1", *PAGE, PATH=no_browser)
    assert result.returncode == 2
    assert "Nobody has looked at the pages of the reference answers, because nothing could" in result.stderr
    assert "validate -f '^006-clients/000'" in result.stderr


@pytest.mark.exhaustive
def test_controls_have_no_verdict_about_pages_that_nobody_looked_at(installed: Command, no_browser: str) -> None:
    result = installed("controls", *PAGE, "--json", "-", PATH=no_browser)
    assert result.returncode == 3, result.stdout
    [found] = json.loads(result.stdout)["evals"]
    assert found["reference"] == "infrastructure"
    unseen = {each["name"] for each in found["wrong"] if each["status"] == "infrastructure"}
    assert {"wrong-no_loading_state", "wrong-fetched_once"} <= unseen
    assert all(each["ok"] for each in found["wrong"] if each["name"] not in unseen)
    assert "there is no Chromium on this machine" in found["complaints"][0]


def test_doctor_says_how_to_install_a_browser(installed: Command, no_browser: str) -> None:
    facts = json.loads(installed("doctor", "--offline", "--json", PATH=no_browser).stdout)["facts"]
    [chromium] = [each for each in facts if each["name"] == "Chromium"]
    assert chromium["status"] == "warning"
    assert chromium["fix"] == "on Debian and Ubuntu: apt-get install chromium-headless-shell"
