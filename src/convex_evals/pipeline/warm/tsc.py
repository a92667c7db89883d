"""TypeScript 7 kept warm, one process per set of packages, with the declarations of the packages and of the language
already parsed. It only says whether there are errors: what they are, a cold compiler says.

The compiler's own interface for editors and tools (`tsc --api`): JSON-RPC with the headers of language servers.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.files import MEBIBYTE
from convex_evals.core.processes import base_environment
from convex_evals.pipeline.warm.host import (
    GO_PROGRAMS,
    ProcessFolder,
    Setup,
    UnusualJobError,
    WarmHost,
    WarmProcess,
    limits_for,
    process_folder,
)

JOB_SECONDS: Final = 20.0
MOST_JOBS: Final = 200
MOST_MEMORY: Final = 600 * MEBIBYTE
# Everything that the command reports of a project that emits nothing, in its order.
COMPLAINTS: Final = (
    "getConfigFileParsingDiagnostics",
    "getProgramDiagnostics",
    "getSyntacticDiagnostics",
    "getBindDiagnostics",
    "getSemanticDiagnostics",
    "getGlobalDiagnostics",
)
WHOLE_PROGRAM: Final = "getGlobalDiagnostics"  # it checks every file first, those of packages too
OF_ONE_FILE: Final = frozenset({"getSyntacticDiagnostics", "getBindDiagnostics", "getSemanticDiagnostics"})
WITH_DECLARATIONS: Final = {"extends": "./tsconfig.json", "compilerOptions": {"skipLibCheck": False}}
# A project of ours that stays open, so that what it is made of stays parsed.
KEPT: Final = {
    "compilerOptions": {
        "strict": True,
        "moduleResolution": "Bundler",
        "module": "ESNext",
        "target": "ESNext",
        "jsx": "react-jsx",
        "lib": ["ES2023", "DOM", "DOM.Iterable"],
        "types": [],
        "skipLibCheck": True,
        "noEmit": True,
    }
}
KEPT_MODULES: Final = ("convex/server", "convex/values", "convex/react", "convex/browser", "react/jsx-runtime")


@dataclass(frozen=True, slots=True)
class TscJob:
    """The project in `area`, a folder of `folder` with a tsconfig.json of ours; or only some of its declarations, by
    their paths in `folder`, which `skipLibCheck` would leave out."""

    compiler: Path
    packages: tuple[Path, ...]
    read: tuple[Path, ...]
    folder: Path
    area: str
    declarations: tuple[str, ...] = ()

    @property
    def setup(self) -> Setup:
        return self.compiler, self.packages, self.read


@dataclass(frozen=True, slots=True)
class Compiled:
    errors: int
    wall_ms: float
    cpu_ms: float


class _WarmTsc(WarmProcess[TscJob, Compiled]):
    requests: int = 0

    async def ask(self, job: TscJob, place: Path) -> Compiled:
        clock = asyncio.get_running_loop().time
        started, spent = clock(), self.cpu_ms
        config = place / job.area / "tsconfig.json"
        if job.declarations:
            config = config.with_name("tsconfig.declarations.json")
            config.write_text(json.dumps(WITH_DECLARATIONS))
        errors = await self.errors_of(config, [str(place / name) for name in job.declarations])
        if self.memory > MOST_MEMORY:
            self.retire()
        return Compiled(errors, (clock() - started) * 1000, self.cpu_ms - spent)

    async def errors_of(self, config: Path, files: Sequence[str] = (), *, keep: bool = False) -> int:
        """How many there are: the first complaints end the search. With `files`, others do not matter."""
        opened = await self._request("updateSnapshot", {"openProjects": [str(config)]})
        try:
            project = next(each["id"] for each in opened["projects"] if each["configFileName"] == str(config))
        except StopIteration:
            raise UnusualJobError("it does not know the project") from None
        asked = {"snapshot": opened["snapshot"], "project": project}
        found = 0
        for method in COMPLAINTS:
            if files and method == WHOLE_PROGRAM:
                continue
            parts = [{"file": file} for file in files] if files and method in OF_ONE_FILE else [{}]
            found += sum([len(await self._request(method, {**asked, **part}) or ()) for part in parts])
            if found:
                break
        await self._request("release", {"snapshot": opened["snapshot"]})
        if not keep:
            closed = await self._request("updateSnapshot", {"closeProjects": [str(config)]})
            await self._request("release", {"snapshot": closed["snapshot"]})
        return found

    async def _request(self, method: str, parameters: dict[str, Any] | None) -> Any:
        self.requests += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": parameters}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        reply = await self._reply()
        if reply.get("id") != self.requests or "error" in reply:
            raise UnusualJobError(f"{method}: {reply.get('error', 'another reply')}")
        return reply.get("result")

    async def _reply(self) -> dict[str, Any]:
        headers = await self.process.stdout.readuntil(b"\r\n\r\n")
        lengths = [line for line in headers.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        reply = json.loads(await self.process.stdout.readexactly(int(lengths[0].partition(b":")[2])))
        if not isinstance(reply, dict):
            raise UnusualJobError("an unreadable reply")
        return reply


@dataclass
class TscHost(WarmHost[TscJob, Compiled]):
    name: str = "tsc"

    async def start(self, job: TscJob) -> _WarmTsc:
        async with process_folder("tsc-") as place:
            config = _write_kept_project(place, job)
            home = place.path / "home"
            memory = {**GO_PROGRAMS, "GOGC": "200"}  # it does not end soon
            process = await place.start(
                [job.compiler, "--api", "--async", "--cwd", place.path / "jobs"],
                base_environment(home, {"CI": "1", "TMPDIR": str(home), **memory}),
                limits_for(MOST_JOBS, JOB_SECONDS),
                (job.compiler.parent, *job.read, *job.packages),
            )
            compiler = _WarmTsc(process, place.path, place.stack, MOST_JOBS, JOB_SECONDS)
            async with asyncio.timeout(JOB_SECONDS):
                await compiler.errors_of(config, keep=True)  # it may well have some: not all of these are installed
            return compiler


def _write_kept_project(place: ProcessFolder, job: TscJob) -> Path:
    folder = place.path / "program"
    config = folder / "tsconfig.json"
    config.write_text(json.dumps(KEPT))
    (folder / "kept.ts").write_text("".join(f'import "{name}";\n' for name in _kept_modules(job)))
    for packages in job.packages:
        (folder / "node_modules").symlink_to(packages / "node_modules", target_is_directory=True)
    return config


def _kept_modules(job: TscJob) -> list[str]:
    """What is imported most, and every package that the set was made for."""
    named: set[str] = set()
    for packages in job.packages:
        try:
            named.update(json.loads((packages / "package.json").read_bytes()).get("dependencies", {}))
        except (OSError, ValueError, AttributeError):
            continue  # then it is parsed with each answer
    return [*KEPT_MODULES, *sorted(named - {"convex"})]
