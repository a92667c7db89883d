"""The reference answer on a deployment of its own. What the CLI sends for it is kept, so it is bundled once.

For graders that see two versions of a project, the same is made of the given files and of the model's over them.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.toolchain import InstalledPackages, NpmError
from convex_evals.pipeline.deploy.backends import Backend
from convex_evals.pipeline.deploy.cli import excerpt_of, find_cli, push, write_push_request
from convex_evals.pipeline.deploy.direct import Refused, build_request, push_request
from convex_evals.pipeline.grading import Pushes
from convex_evals.pipeline.install import Manifest, ManifestError, install_set, link_packages, outage, read_manifest
from convex_evals.pipeline.step import RunningStep, step_apart
from convex_evals.pipeline.types import GradingOptions
from convex_evals.pipeline.workspace import keep, read_kept
from convex_evals.suite import Eval, files_below, is_chosen

if TYPE_CHECKING:
    from convex_evals.backend import Deployment

FORMAT: Final = 2  # of the kept requests
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
    """Deploys the reference answer on `backend`. Returns why that failed; None if it did not."""
    files = answer_files(eval, options.answer_files or ALL_FILES)
    try:
        manifest = _manifest(step, files)
        if backend.embedded is None:
            await _deploy_with_cli(step, backend, files, manifest, options)
        else:
            request = await _request(step, backend, files, manifest, options)
            if request["nodeDependencies"]:
                backend.provide_packages((await _install(manifest, step, options)).node_modules)
            await _push(step, backend.embedded, request)
    except _Failed as error:
        return error.failure
    except (ManifestError, Refused) as error:
        return AnswerFailure("answer-broken", str(error))
    return None


async def _push(step: RunningStep, deployment: "Deployment", request: dict[str, Any]) -> None:
    """After the first push it is known what the modules export, so they need not be evaluated again."""
    remembered = deployment.evaluations
    if remembered is None:
        await push_request(deployment, request)
        return
    digest = hashlib.sha256(json.dumps([FORMAT, request], sort_keys=True).encode()).hexdigest()
    kept = step.tools.cache / "evaluations" / f"{digest}.json"
    remembered.known = read_kept(kept) or {}
    before = len(remembered.known)
    await push_request(deployment, request)
    if len(remembered.known) > before:
        keep(kept, remembered.known)


async def push_request_for(
    step: RunningStep, files: Mapping[str, bytes], backend: Backend, options: GradingOptions
) -> dict[str, Any] | AnswerFailure:
    """What start_push takes for these files of an eval, without the key."""
    try:
        return await _request(step, backend, files, _manifest(step, files), options)
    except _Failed as error:
        return error.failure
    except ManifestError as error:
        return AnswerFailure("answer-broken", str(error))


def answer_files(eval: Eval, globs: tuple[str, ...]) -> dict[str, bytes]:
    """The whole reference answer, by path: the given files, and the chosen ones of the answer over them."""
    given, changed = given_files(eval), _files_in(eval.answer)
    chosen = {name: content for name, content in changed.items() if is_chosen(name, globs)}
    deleted = {name for name, content in chosen.items() if name in given and not content.strip()}
    return {name: content for name, content in {**given, **chosen}.items() if name not in deleted}


def given_files(eval: Eval) -> dict[str, bytes]:
    return _files_in(eval.given) if eval.given else {}


def _files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files_below(folder)}


async def _request(
    step: RunningStep, backend: Backend, files: Mapping[str, bytes], manifest: Manifest, options: GradingOptions
) -> dict[str, Any]:
    """What start_push takes, without the key."""
    kept = step.tools.cache / "answers" / f"{_fingerprint(step, files, manifest, options)}.json"
    known: dict[str, Any] | None = read_kept(kept)
    if known is not None:
        return known
    with _prepared_apart(step) as apart:
        project = await _prepare(apart, files, manifest, options)
        cli, written = await find_cli(project, step.tools), apart.workspace.root / "request/answer"
        written.parent.mkdir()
        result = await write_push_request(apart, cli, project, backend.target, written)
        if not result.ok or not written.with_suffix(".json").is_file():
            raise _Failed(apart.accident(result) or "answer-broken", excerpt_of(result))
        request: dict[str, Any] = json.loads(written.with_suffix(".json").read_bytes())
    request.pop("adminKey", None)
    keep(kept, request)
    return request


async def _deploy_with_cli(
    step: RunningStep, backend: Backend, files: Mapping[str, bytes], manifest: Manifest, options: GradingOptions
) -> None:
    with _prepared_apart(step) as apart:
        project = await _prepare(apart, files, manifest, options)
        result = await push(apart, await find_cli(project, step.tools), project, backend.target)
        if not result.ok or not await backend.is_pushed():
            raise _Failed(apart.accident(result) or "answer-broken", excerpt_of(result))


@contextmanager
def _prepared_apart(step: RunningStep) -> Iterator[RunningStep]:
    """No program of a grading may reach the folder in which a reference answer is prepared."""
    with step_apart(step.tools) as apart:
        try:
            yield apart
        finally:
            step.say(apart.log.read_text(errors="replace"))


async def _prepare(step: RunningStep, files: Mapping[str, bytes], manifest: Manifest, options: GradingOptions) -> Path:
    """The answer as a project with its packages."""
    project = step.workspace.project
    for name, content in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (project / "package.json").write_bytes(files.get("package.json") or manifest.canonical())
    link_packages(project, await _install(manifest, step, options))
    return project


async def _install(manifest: Manifest, step: RunningStep, options: GradingOptions) -> InstalledPackages:
    try:
        return await install_set(manifest, options, step.tools)
    except NpmError as error:
        kind = outage(error) or ("answer-broken" if error.about_packages else "install-failed")
        raise _Failed(kind, f"{error}\n{error.detail}".strip()) from error
    except InfrastructureError as error:
        raise _Failed("install-failed", str(error)) from error


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


@dataclass(frozen=True, slots=True)
class PreparedPushes:
    """`failure` says why there are none."""

    pushes: Pushes | None = None
    failure: AnswerFailure | None = None


async def prepare_pushes(step: RunningStep, eval: Eval, backend: Backend, options: GradingOptions) -> PreparedPushes:
    """What the CLI would send for the given files, and for the project, which is known to deploy."""
    given = await push_request_for(step, given_files(eval), backend, options)
    if isinstance(given, AnswerFailure):
        return PreparedPushes(
            failure=AnswerFailure(given.kind, f"The given files cannot be deployed:\n{given.excerpt}")
        )
    project = await _project_request(step, backend, options)
    if isinstance(project, AnswerFailure):
        return PreparedPushes(failure=project)
    return PreparedPushes(Pushes(given, project))


async def _project_request(
    step: RunningStep, backend: Backend, options: GradingOptions
) -> dict[str, Any] | AnswerFailure:
    project = step.workspace.project
    cli = await find_cli(project, step.tools)
    direct = await build_request(step, cli, project) if options.fast_push else None
    if direct is not None:
        return direct.body
    written = step.workspace.root / "request" / "project"
    written.parent.mkdir()
    result = await write_push_request(step, cli, project, backend.target, written)
    if not result.ok or not written.with_suffix(".json").is_file():
        return AnswerFailure(step.accident(result) or "tool-crashed", excerpt_of(result))
    request: dict[str, Any] = json.loads(written.with_suffix(".json").read_bytes())
    request.pop("adminKey", None)
    return request
