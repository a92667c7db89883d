"""Deploys the conformance app, or a variation of it, with the real CLI."""

import fnmatch
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import mkdtemp

from convex_evals.backend.conformance.target import Target
from convex_evals.core.processes import base_environment, run

PUSH_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class PushResult:
    """`ok` only when the CLI said that the functions are ready: its exit code alone is not to be believed."""

    ok: bool
    output: str


async def push(target: Target, changes: Mapping[str, str], remove: tuple[str, ...] = ()) -> PushResult:
    """Writes the app with `changes` (path -> text) into a fresh folder and runs `convex dev --once` there."""
    project = Path(mkdtemp(prefix="project-", dir=target.workspace))
    _write(project, changes, remove)
    (project / "node_modules").symlink_to(target.toolchain.packages.node_modules)
    home = target.workspace / "home"
    home.mkdir(exist_ok=True)
    result = await run(
        [
            *target.toolchain.node_command("convex"),
            "dev",
            "--once",
            "--typecheck=disable",
            "--tail-logs=disable",
            "--url",
            target.url,
            "--admin-key",
            target.admin_key,
        ],
        cwd=project,
        timeout=PUSH_SECONDS,
        environment=base_environment(home, {"CI": "1"}),
    )
    output = result.output.read().decode(errors="replace")
    return PushResult(result.ok and "Convex functions ready!" in output, output)


def _write(project: Path, changes: Mapping[str, str], remove: tuple[str, ...]) -> None:
    with as_file(files("convex_evals.backend.conformance") / "app") as app:
        shutil.copytree(app, project, dirs_exist_ok=True)
    for file in [path for path in project.rglob("*.ts") if path.is_file()]:
        relative = file.relative_to(project).as_posix()
        if any(fnmatch.fnmatch(relative, pattern) for pattern in remove):
            file.unlink()
    for name, text in changes.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
