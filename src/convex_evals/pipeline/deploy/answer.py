"""The reference answer on a deployment of its own. What the CLI sends for it is kept, so it is bundled once."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.toolchain import NpmError
from convex_evals.pipeline.deploy.backends import Backend
from convex_evals.pipeline.deploy.cli import excerpt_of, find_cli, push, write_push_request
from convex_evals.pipeline.deploy.direct import Refused, push_request
from convex_evals.pipeline.install.manifest import Manifest, ManifestError, read_manifest
from convex_evals.pipeline.install.step import install_set, link_packages
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.types import GradingOptions
from convex_evals.suite import Eval, is_chosen
from convex_evals.suite.files import files_below

FORMAT: Final = 1  # of the kept requests
ALL_FILES: Final = ("**/*",)


@dataclass(frozen=True, slots=True)
class AnswerFailure:
    """`kind` is a key of the table of failures: a broken answer, or an accident on the way."""

    kind: str
    excerpt: str


class _Failed(Exception):
    def __init__(self, kind: str, excerpt: str) -> None:
        super().__init__(excerpt)
        self.failure = AnswerFailure(kind, excerpt)


async def deploy_answer(
    step: RunningStep, eval: Eval, backend: Backend, options: GradingOptions
) -> AnswerFailure | None:
    """Makes the reference answer run on `backend`; what kept it from doing so otherwise."""
    files = answer_files(eval, options.answer_files or ALL_FILES)
    try:
        manifest = _manifest(step, files)
        if backend.embedded is None:
            await _deploy_with_cli(step, backend, files, manifest, options)
        else:
            await push_request(backend.embedded, await _request(step, backend, files, manifest, options))
    except _Failed as error:
        return error.failure
    except (ManifestError, Refused) as error:
        return AnswerFailure("answer-broken", str(error))
    return None


def answer_files(eval: Eval, globs: tuple[str, ...]) -> dict[str, bytes]:
    """The chosen files of the answer, by their path below it."""
    found = {path.relative_to(eval.answer).as_posix(): path for path in files_below(eval.answer)}
    return {name: path.read_bytes() for name, path in found.items() if is_chosen(name, globs)}


async def _request(
    step: RunningStep, backend: Backend, files: Mapping[str, bytes], manifest: Manifest, options: GradingOptions
) -> dict[str, Any]:
    kept = step.tools.cache / "answers" / f"{_fingerprint(step, files, manifest, options)}.json"
    if not kept.is_file():
        project = await _prepare(step, files, manifest, options)
        written = step.workspace.root / "answer-request"
        result = await write_push_request(step, find_cli(project, step.tools), project, backend.target, written)
        request = written.with_suffix(".json")
        if not result.ok or not request.is_file():
            raise _Failed(step.accident(result) or "answer-broken", excerpt_of(result))
        _keep(request, kept)
    content: dict[str, Any] = json.loads(kept.read_bytes())
    return content


async def _deploy_with_cli(
    step: RunningStep, backend: Backend, files: Mapping[str, bytes], manifest: Manifest, options: GradingOptions
) -> None:
    project = await _prepare(step, files, manifest, options)
    result = await push(step, find_cli(project, step.tools), project, backend.target)
    if not result.ok or not await backend.is_pushed():
        raise _Failed(step.accident(result) or "answer-broken", excerpt_of(result))


async def _prepare(step: RunningStep, files: Mapping[str, bytes], manifest: Manifest, options: GradingOptions) -> Path:
    """The answer as a project with its packages."""
    project = step.workspace.answer
    for name, content in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (project / "package.json").write_bytes(files.get("package.json") or manifest.canonical())
    try:
        link_packages(project, await install_set(manifest, options, step.tools))
    except NpmError as error:
        kind = "answer-broken" if error.about_packages else "install-failed"
        raise _Failed(kind, f"{error}\n{error.detail}".strip()) from error
    except InfrastructureError as error:
        raise _Failed("install-failed", str(error)) from error
    return project


def _manifest(step: RunningStep, files: Mapping[str, bytes]) -> Manifest:
    text = files.get("package.json")
    if text is None:
        return Manifest({"convex": step.tools.toolchain.packages.version("convex")}, {})
    return read_manifest(text.decode(errors="replace"))


def _fingerprint(step: RunningStep, files: Mapping[str, bytes], manifest: Manifest, options: GradingOptions) -> str:
    digest = hashlib.sha256()
    for part in (
        str(FORMAT).encode(),
        step.tools.toolchain.fingerprint.encode(),
        str(options.packages_before).encode(),
        manifest.canonical(),
        *(part for name, content in sorted(files.items()) for part in (name.encode(), content)),
    ):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _keep(request: Path, kept: Path) -> None:
    """Without the key. Renamed into place: a file under its final name is complete, whoever else writes it."""
    content = json.loads(request.read_bytes())
    content.pop("adminKey", None)
    kept.parent.mkdir(parents=True, exist_ok=True)
    incoming = kept.with_name(f".{secrets.token_hex(8)}")
    incoming.write_text(json.dumps(content))
    incoming.rename(kept)
