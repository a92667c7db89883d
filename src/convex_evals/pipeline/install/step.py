"""Resolves package.json into the shared cache and links the project to it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import Diagnostic, stated
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.settings import Settings
from convex_evals.core.steps import StepResult
from convex_evals.core.toolchain import (
    REFUSED,
    TOO_LARGE,
    UNUSABLE,
    Cause,
    InstalledPackages,
    NpmError,
    PackageSet,
    Toolchain,
    project_store,
)
from convex_evals.pipeline.bounds import readable
from convex_evals.pipeline.install.manifest import Manifest, ManifestError, read_manifest, read_manifest_file
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import GradingOptions

# npm's words and ours for what is wrong with the packages.
_KINDS: Final = {
    "E404": "package-not-found",
    "ETARGET": "version-not-found",
    "ENOVERSIONS": "version-not-found",
    "ERESOLVE": "dependencies-conflict",
    "EBADPLATFORM": "platform-unsupported",
    "EINVALIDPACKAGENAME": "dependency-refused",
    "EINVALIDTAGNAME": "dependency-refused",
    "EUNSUPPORTEDPROTOCOL": "dependency-refused",
    "EALLOWGIT": "dependency-refused",
    "EALLOWREMOTE": "dependency-refused",
    "EALLOWFILE": "dependency-refused",
    "EALLOWDIRECTORY": "dependency-refused",
    REFUSED: "dependency-refused",
    TOO_LARGE: "packages-too-large",
    UNUSABLE: "packages-unusable",
}
_OUTAGES: Final[dict[Cause, str]] = {
    "registry": "registry-unreachable",
    "access": "registry-refused",
    "disk": "disk-full",
    "machine": "machine-failed",
}


async def install_packages(step: RunningStep, options: GradingOptions) -> StepResult:
    project = step.workspace.project
    try:
        manifest = _manifest(step, project / "package.json")
    except ManifestError as error:
        return step.failed(error.kind, str(error), error.diagnostics())
    for note in manifest.notes:
        step.note(note)
    try:
        installed = await install_set(manifest, options, step.tools)
    except NpmError as error:
        return _npm_failed(step, error)
    except InfrastructureError as error:
        return step.failed("install-failed", str(error))
    link_packages(project, installed)
    _log_packages(step, installed)
    return step.passed()


async def install_set(manifest: Manifest, options: GradingOptions, tools: Tools) -> InstalledPackages:
    """The packages of a manifest: from the cache, or resolved by npm. Raises NpmError, ToolchainError."""
    return await tools.packages.install(_package_set(manifest, options))


def outage(error: InfrastructureError) -> str | None:
    """The kind of failure if packages cannot be installed because of the registry or this machine, never an answer."""
    return _OUTAGES[error.cause] if isinstance(error, NpmError) and error.cause else None


def find_packages(
    files: Mapping[str, str], options: GradingOptions, toolchain: Toolchain, settings: Settings
) -> InstalledPackages | None:
    """What an answer with these files was graded with, if it is still in the cache."""
    text = files.get("package.json") or files.get("./package.json")
    try:
        manifest = read_manifest(text if text is not None else json.dumps(_default_manifest(toolchain)))
    except ManifestError:
        return None
    return project_store(settings, toolchain.node).find(_package_set(manifest, options))


def _package_set(manifest: Manifest, options: GradingOptions) -> PackageSet:
    before = options.packages_before.isoformat() if options.packages_before else None
    return PackageSet("the project's packages", manifest.canonical(), before=before)


def _default_manifest(toolchain: Toolchain) -> dict[str, object]:
    return {"private": True, "dependencies": {"convex": toolchain.packages.version("convex")}}


def link_packages(project: Path, installed: InstalledPackages) -> None:
    """A link, not a copy."""
    (project / "node_modules").symlink_to(installed.node_modules, target_is_directory=True)


def _manifest(step: RunningStep, path: Path) -> Manifest:
    if not path.exists() and not path.is_symlink():
        default = _default_manifest(step.tools.toolchain)
        path.write_text(json.dumps(default, indent=2))
        step.note(f"package.json is missing: assumed {json.dumps(default)}")
    return read_manifest_file(path)


def _npm_failed(step: RunningStep, error: NpmError) -> StepResult:
    if error.result is not None:
        step.record(error.result)
    kind = outage(error) or _KINDS.get(error.code or "", "install-failed")
    return step.failed(kind, f"{error}\n{error.detail}".strip(), [_diagnostic(kind, error)])


def _diagnostic(kind: str, error: NpmError) -> Diagnostic:
    said = stated("install", kind, readable(f"{error}\n{error.detail}").strip(), tool="npm")
    return replace(said, code=error.code, received=error.package)


def _log_packages(step: RunningStep, installed: InstalledPackages) -> None:
    step.say(f"node_modules -> {installed.node_modules}")
    try:
        packages = json.loads((installed.folder / "package-lock.json").read_bytes())["packages"]
    except (OSError, ValueError, KeyError):  # nothing was to be installed
        return
    for location, entry in packages.items():
        if location:
            step.say(f"{location} {entry.get('version')} {entry.get('integrity', '')}")
