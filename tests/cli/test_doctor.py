import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.core.machine import Fact, Status

Command = Callable[..., subprocess.CompletedProcess[str]]
SECRET = "sk-never-to-be-seen"


@pytest.fixture
def fresh_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A home without a toolchain, and one provider's key."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CACHE_HOME", "CONVEX_EVALS_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)


@pytest.mark.usefixtures("fresh_machine")
def test_the_toolchain_of_a_fresh_user_is_installed_on_first_run(convex_evals: Command) -> None:
    result = convex_evals("doctor", "--offline")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["JavaScript", "toolchain", "warning", "installed", "on", "first", "run,"] in [row[:7] for row in rows]
    assert "\n  JavaScript toolchain: to install it now: /" in result.stdout


@pytest.mark.usefixtures("fresh_machine")
def test_json_has_every_fact(convex_evals: Command) -> None:
    result = convex_evals("doctor", "--offline", "--json")
    found = json.loads(result.stdout)
    assert found["ready"] is (result.returncode == 0)
    facts = {fact["name"]: fact for fact in found["facts"]}
    assert set(facts["Python"]) == {"name", "status", "detail", "fix"}
    assert facts["Python"]["status"] == "ok"
    assert facts["JavaScript toolchain"]["fix"].endswith("-m convex_evals.core.toolchain")
    assert {"Node", "Disk", "Memory", "Sandbox (a)", "Sandbox: files", "Provider keys"} <= set(facts)


@pytest.mark.usefixtures("fresh_machine")
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_key_is_named_and_never_shown(convex_evals: Command, arguments: list[str]) -> None:
    result = convex_evals("--debug", "doctor", "--offline", *arguments)
    assert "OPENAI_API_KEY" in result.stdout
    assert SECRET not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("status", "exit_code"), [(Status.OK, 0), (Status.WARNING, 0), (Status.MISSING, 1)], ids=lambda value: str(value)
)
def test_only_what_is_missing_makes_a_machine_unready(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: Status, exit_code: int
) -> None:
    from convex_evals.cli.main import run

    # Which facts a machine has cannot be chosen from outside, so they are given here.
    async def facts(settings: object, *, network: bool) -> tuple[Fact, ...]:
        return (Fact("Thing", status, "as it is", "apt-get install thing"),)

    monkeypatch.setattr("convex_evals.core.machine.gather_facts", facts)
    assert run(["doctor"]) == exit_code
    said = capsys.readouterr().out
    assert "  Thing: apt-get install thing\n" in said
    assert said.endswith("This machine is not ready: see what is missing above.\n") is (exit_code == 1)
