"""The step `install`, with a registry of our own on loopback."""

import base64
import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.examples import exhaustively

from convex_evals.core.settings.secret import Secret
from convex_evals.core.settings.settings import NetworkVariable
from convex_evals.core.steps import StepResult
from convex_evals.pipeline.failures import FAILURES
from convex_evals.pipeline.install import install_packages
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import GradingOptions
from convex_evals.pipeline.workspace import Workspace

TRAPS = {
    "trap-git": {"dependencies": {"x": "git+https://127.0.0.1:1/x.git"}},
    "trap-alias": {"dependencies": {"prettier": "npm:evil@1.0.0"}},
    "trap-broken": {"dependencies": {"evil": {"version": 1}}},
}
EVIL = {"name": "evil", "version": "1.0.0", "scripts": {"postinstall": "touch ../../ran"}}
OLD, NEW = "2026-01-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"


def _tarball(manifest: dict[str, object]) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        content = json.dumps(manifest).encode()
        entry = tarfile.TarInfo("package/package.json")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@dataclass
class Registry:
    """Has `evil` 1.0.0 (old, with an install script) and 2.0.0 (new); everything else is unknown."""

    url: str = ""
    asked: list[str] = field(default_factory=list)
    broken: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """What it answers to some paths instead."""

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        if path in self.broken:
            return self.broken[path]
        if match := re.fullmatch(r"/evil/-/evil-(.+)\.tgz", path):
            return 200, _tarball({**EVIL, "version": match[1]})
        if (trap := path[1:]) in TRAPS:
            versions = {"1.0.0": {**self._version("1.0.0"), "name": trap, **TRAPS[trap]}}
            packument = {"name": trap, "dist-tags": {"latest": "1.0.0"}, "versions": versions, "time": {"1.0.0": OLD}}
            return 200, json.dumps(packument).encode()
        if path != "/evil":
            return 404, b'{"error": "Not found"}'
        versions = {version: self._version(version) for version in ("1.0.0", "2.0.0")}
        packument = {"name": "evil", "dist-tags": {"latest": "2.0.0"}, "versions": versions}
        return 200, json.dumps({**packument, "time": {"1.0.0": OLD, "2.0.0": NEW, "modified": NEW}}).encode()

    def _version(self, version: str) -> dict[str, object]:
        manifest = {**EVIL, "version": version}
        digest = base64.b64encode(hashlib.sha512(_tarball(manifest)).digest()).decode()
        tarball = f"{self.url}/evil/-/evil-{version}.tgz"
        return {**manifest, "dist": {"tarball": tarball, "integrity": f"sha512-{digest}"}}


@pytest.fixture
def registry() -> Iterator[Registry]:
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = registry.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield registry
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def run(tools: Tools, tmp_path: Path) -> Callable[..., Awaitable[StepResult]]:
    """Installs a package.json from the registry at `url`, with caches of its own."""

    async def install(manifest: str | None, url: str) -> StepResult:
        network = (NetworkVariable("npm_config_registry", Secret(url)),)
        settings = replace(tools.settings, cache_folder=tmp_path / "cache", network=network, home=tmp_path)
        store = replace(tools.packages, root=tmp_path / "cache/projects", settings=settings)
        workspace = Workspace(tmp_path / "workspace")
        workspace.prepare()
        if manifest is not None:
            (workspace.project / "package.json").write_text(manifest)
        step = RunningStep("install", workspace, replace(tools, settings=settings, packages=store))
        return await install_packages(step, GradingOptions(packages_before=date(2026, 11, 1)))

    return install


async def test_packages_are_those_of_the_suites_day_and_no_script_runs(
    run: Callable[..., Awaitable[StepResult]], registry: Registry, tmp_path: Path
) -> None:
    text = json.dumps({"scripts": {"preinstall": "touch ran"}, "dependencies": {"evil": "latest"}})
    result = await run(text, registry.url)
    assert result.status == "passed", result.excerpt
    project = tmp_path / "workspace/project"
    assert (project / "node_modules").is_symlink()
    assert json.loads((project / "node_modules/evil/package.json").read_text())["version"] == "1.0.0"
    assert "ran" not in {name for _, _, names in os.walk(tmp_path) for name in names}
    assert "node_modules/evil 1.0.0 sha512-" in result.log.read_text()
    assert any("scripts is ignored" in note for note in result.notes)


async def test_the_same_packages_are_not_asked_for_again(
    run: Callable[..., Awaitable[StepResult]], registry: Registry, tmp_path: Path
) -> None:
    await run('{"dependencies": {"evil": "1"}}', registry.url)
    registry.asked.clear()
    (tmp_path / "workspace/project/node_modules").unlink()
    result = await run('{"name": "other", "devDependencies": {"evil": "1"}}', registry.url)
    assert result.status == "passed"
    assert registry.asked == []
    assert result.commands == ()


@pytest.mark.parametrize(
    ("manifest", "failure", "excerpt"),
    [
        ('{"dependencies": {"no-such-package": "1"}}', "package-not-found", "no-such-package"),
        ('{"dependencies": {"evil": "^9"}}', "version-not-found", "No matching version found for evil@^9"),
        ('{"dependencies": {"evil": "2.0.0"}}', "version-not-found", "with a date before"),
        ('{"dependencies": {"evil": "file:/etc"}}', "dependency-refused", "must come from the registry"),
        ('{"dependencies": {"trap-git": "1"}}', "dependency-refused", "package.json > trap-git@1.0.0 > x@git+https"),
        ('{"dependencies": {"trap-alias": "1"}}', "dependency-refused", "under another package's name"),
        ('{"dependencies": {"trap-broken": "1"}}', "packages-unusable", "failed"),
        ("{", "manifest-invalid", "not valid JSON"),
    ],
)
async def test_a_package_that_does_not_exist_is_the_models_failure(
    run: Callable[..., Awaitable[StepResult]], registry: Registry, manifest: str, failure: str, excerpt: str
) -> None:
    result = await run(manifest, registry.url)
    assert (result.status, result.failure) == ("failed", failure)
    assert excerpt in result.excerpt


@pytest.mark.parametrize("kind", ["folder", "link"])
async def test_a_package_json_that_is_not_a_file_is_the_models_failure(
    run: Callable[..., Awaitable[StepResult]], registry: Registry, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "workspace/project/package.json"
    path.parent.mkdir(parents=True)
    path.mkdir() if kind == "folder" else path.symlink_to("/nonexistent")
    result = await run(None, registry.url)
    assert (result.status, result.failure) == ("failed", "manifest-invalid")


@pytest.mark.parametrize(
    ("path", "reply", "code"),
    [
        ("/evil/-/evil-1.0.0.tgz", (200, b"<html>Log in to the network</html>"), "EINTEGRITY"),
        ("/evil", (503, b"{}"), "E503"),
        *exhaustively(
            ("/evil", (429, b"{}"), "E429"),
            ("/evil", (407, b"{}"), "E407"),
            ("/evil", (200, b"<html>Log in to the network</html>"), "FETCH_ERROR"),
            ("/evil/-/evil-1.0.0.tgz", (500, b"{}"), "E500"),
        ),
    ],
)
async def test_a_registry_that_fails_is_never_the_models_failure(
    run: Callable[..., Awaitable[StepResult]], registry: Registry, path: str, reply: tuple[int, bytes], code: str
) -> None:
    registry.broken[path] = reply
    result = await run('{"dependencies": {"evil": "1"}}', registry.url)
    assert result.failure is not None
    assert (result.status, FAILURES[result.failure].fault) == ("infrastructure", "infrastructure")
    assert result.diagnostics[0].code == code


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "https"])
async def test_an_unreachable_registry_is_not_the_models_failure(
    run: Callable[..., Awaitable[StepResult]], registry: Registry, url: str
) -> None:
    result = await run('{"dependencies": {"evil": "1"}}', registry.url.replace("http", url) if url == "https" else url)
    assert (result.status, result.failure) == ("infrastructure", "registry-unreachable")


async def test_a_cache_that_cannot_be_written_is_not_the_models_failure(
    run: Callable[..., Awaitable[StepResult]], registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file")
    result = await run('{"dependencies": {"evil": "1"}}', registry.url)
    assert (result.status, result.failure) == ("infrastructure", "install-failed")


async def test_a_missing_package_json_is_assumed_and_that_is_reported(
    run: Callable[..., Awaitable[StepResult]], registry: Registry
) -> None:
    result = await run(None, registry.url)
    assert result.notes == ('package.json is missing: assumed {"private": true, "dependencies": {"convex": "1.44.0"}}',)
