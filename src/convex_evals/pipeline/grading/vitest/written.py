"""Runs the tests that a model wrote, when a grader asks for it: on the project that they test, and on variants of it.

A grader has no business with Node. It sends the variants through a Unix socket in its private folder, and we run
vitest, confined like any other tool. What is sent: `{name: {path: text or null}}`; what comes back: a `WrittenReply`.
"""

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import LIBRARIES, Confinement, ProcessResult, base_environment, run
from convex_evals.pipeline.grading.kit import LANGUAGES, NOT_WRITTEN
from convex_evals.pipeline.grading.runner import GraderRequest
from convex_evals.pipeline.grading.types import VariantReport, WrittenReply, WrittenTest
from convex_evals.pipeline.tools import LIMITS, Tools

MOST_VARIANTS: Final = 12
"""In one process. Every file has a thread, and threads that have ended give their memory back late."""
CPU_SECONDS: Final = 50
SECONDS: Final = 240.0
"""Only for tests that wait without working. Others are stopped by their CPU time, however busy the machine is."""
MOST_BYTES: Final = 1_000_000
"""Of all sources together: they are written once per variant."""
_HERE: Final = Path(__file__).parent
_CONFIG: Final = (
    'import {{ writtenTests }} from "{here}/written.mjs";\nexport default writtenTests("{report}", "{home}");\n'
)
_PROC: Final = Path("/proc")  # its own: vitest asks how much memory it uses
_LAST_CHARACTERS: Final = 2000

Files = dict[str, str]
Variants = Mapping[str, Mapping[str, str | None]]


async def run_on_variants(
    variants: Variants, request: GraderRequest, tools: Tools, ended: list[ProcessResult]
) -> WrittenReply:
    """What ran is added to `ended`."""
    written = _sources(request.files)
    if sum(len(text) for text in written.values()) > MOST_BYTES:
        return WrittenReply(problem=f"the tests and what they import have more than {MOST_BYTES:,} characters")
    names = secrets.SystemRandom().sample(list(variants), len(variants))
    found: dict[str, VariantReport] = {}
    for first in range(0, len(names), MOST_VARIANTS):
        some = {name: variants[name] for name in names[first : first + MOST_VARIANTS]}
        reply = await _run_some(written, some, request, tools, ended)
        if reply.problem or reply.crashed:
            return reply
        found |= reply.variants
    return WrittenReply(found)


async def _run_some(
    written: Files, variants: Variants, request: GraderRequest, tools: Tools, ended: list[ProcessResult]
) -> WrittenReply:
    tried = _VariantRun(request.private / f"written-{secrets.token_hex(4)}", tools)
    places = tried.lay_out(written, variants)
    try:
        result = await tried.vitest()
    except ProcessError as error:
        return WrittenReply(crashed=str(error))
    ended.append(result)
    return _reply(result, tried.report, places)


@dataclass(frozen=True, slots=True)
class _VariantRun:
    """One process of vitest, and a folder per variant whose name tells nothing about it."""

    root: Path
    tools: Tools

    @property
    def report(self) -> Path:
        return self.root.with_name(f"{self.root.name}.json")

    @property
    def _home(self) -> Path:
        return self.root.with_name(f"{self.root.name}.home")

    def lay_out(self, written: Files, variants: Variants) -> dict[str, str]:
        """The folders, with the name of the variant in each."""
        self.root.mkdir()
        self._home.mkdir()
        self.report.write_text("")
        (self.root / "node_modules").symlink_to(self.tools.toolchain.packages.node_modules)
        config = _CONFIG.format(here=_HERE, report=self.report, home=self._home)
        (self.root / "vitest.config.mjs").write_text(config)
        places = {secrets.token_hex(8): name for name in variants}
        for place, name in places.items():
            for path, text in {**written, **variants[name]}.items():
                if text is not None:
                    (self.root / place / path).parent.mkdir(parents=True, exist_ok=True)
                    (self.root / place / path).write_text(text)
        return places

    async def vitest(self) -> ProcessResult:
        toolchain = self.tools.toolchain
        read = (self.root, _HERE, toolchain.node.executable, toolchain.packages.folder)
        config = ("--config=vitest.config.mjs", "--configLoader=native")
        return await run(
            [*toolchain.node_command("vitest"), "run", f"--root={self.root}", *config],
            cwd=self.root,
            timeout=SECONDS,
            environment=base_environment(self._home, {"CI": "1", "NO_COLOR": "1", "TMPDIR": str(self._home)}),
            limits=replace(LIMITS, cpu_seconds=CPU_SECONDS),
            confinement=Confinement(
                read=tuple(path.resolve() for path in read),
                write=(self.report.resolve(),),
                system=(*LIBRARIES, _PROC),
                network="own",
                sockets="none",
                children=False,
                scratch=self._home.resolve(),
            ),
        )


def _sources(folder: Path) -> Files:
    """What the model wrote and was given, and the generated modules that functions import."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        parts = set(name.parts) - ({"_generated"} if path.suffix == ".js" else set())
        if path.suffix in LANGUAGES and NOT_WRITTEN.isdisjoint(parts) and path.is_file() and not path.is_symlink():
            found[name.as_posix()] = path.read_text(errors="replace")
    return found


def _reply(result: ProcessResult, report: Path, places: Mapping[str, str]) -> WrittenReply:
    """Report and exit status must agree. Vitest that does not start is not the fault of any test."""
    said = report.read_text(errors="replace")
    if not said:
        return WrittenReply(crashed=f"vitest did not start ({result.ending}): {_last_words(result)}")
    if result.timed_out:
        return WrittenReply(problem=f"the tests did not end by themselves ({result.ending})")
    modules = _read(said)
    if modules is None:
        return WrittenReply(problem=f"the tests ended without a report ({result.ending})\n{_last_words(result)}")
    reports = {name: _variant(modules, place) for place, name in places.items()}
    exit_code = 0 if all(each.has_passed for each in reports.values()) else 1
    if result.exit_code != exit_code:
        return WrittenReply(
            problem=f"the report asks for exit code {exit_code}, but the tests ended with {result.ending}"
        )
    return WrittenReply(variants=reports)


def _variant(modules: list[dict[str, Any]], place: str) -> VariantReport:
    own = [module for module in modules if PurePosixPath(module["file"]).parts[0] == place]
    tests = [WrittenTest(test["name"], test["state"], test["message"]) for module in own for test in module["tests"]]
    problem = "\n".join(filter(None, (module["problem"] for module in own)))
    return VariantReport(tuple(tests), problem if own else "there is no file with tests")


def _read(text: str) -> list[dict[str, Any]] | None:
    """None unless it is what our reporter writes: the tests could have written it themselves."""
    with suppress(ValueError, KeyError, TypeError, IndexError):
        modules = json.loads(text)
        if isinstance(modules, list) and all(_is_module(module) for module in modules):
            return modules
    return None


def _is_module(module: dict[str, Any]) -> bool:
    texts = [module["file"], module["problem"]]
    texts += [test[key] for test in module["tests"] for key in ("name", "state", "message")]
    return all(isinstance(text, str) for text in texts) and module["file"] != ""


def _last_words(result: ProcessResult) -> str:
    return result.output.text.strip()[-_LAST_CHARACTERS:]
