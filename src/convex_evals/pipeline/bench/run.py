"""The measurements of `convex-evals bench pipeline`."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import PackageStore
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline.bench.baseline import Baseline, Cost, write_foreign_suite
from convex_evals.pipeline.bench.profile import Profile, Profiler
from convex_evals.pipeline.grade import grade
from convex_evals.pipeline.tools import Tools, open_tools
from convex_evals.pipeline.types import Assignment, Grade, GradingOptions
from convex_evals.suite import Eval, load_suite, read_answer

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Graded:
    """What our pipeline took. `total` counts this process too, deployments included."""

    steps: Mapping[StepName, Cost]
    total: Cost

    @classmethod
    def of(cls, result: Grade) -> "Graded":
        steps = {step.name: Cost(step.duration_ms, step.cpu_ms) for step in result.steps}
        return cls(steps, Cost(result.duration_ms, result.cpu_ms))

    def to_json(self) -> dict[str, object]:
        return {"total": self.total.to_json(), "steps": {name: cost.to_json() for name, cost in self.steps.items()}}


@dataclass(frozen=True, slots=True)
class ProjectFigures:
    name: str
    cold: Graded
    warm: Graded
    baseline: Mapping[StepName, Cost]

    @property
    def baseline_total(self) -> Cost:
        return sum(self.baseline.values(), Cost())

    def to_json(self) -> dict[str, object]:
        steps = {name: cost.to_json() for name, cost in self.baseline.items()}
        return {
            "name": self.name,
            "cold": self.cold.to_json(),
            "warm": self.warm.to_json(),
            "baseline": {"total": self.baseline_total.to_json(), "steps": steps},
        }


@dataclass(frozen=True, slots=True)
class PipelineFigures:
    projects: Sequence[ProjectFigures]

    @property
    def warm(self) -> Cost:
        return sum((project.warm.total for project in self.projects), Cost())

    @property
    def baseline(self) -> Cost:
        return sum((project.baseline_total for project in self.projects), Cost())

    def to_json(self) -> dict[str, object]:
        return {
            "cpuRatio": round(self.warm.cpu_ms / self.baseline.cpu_ms, 4),
            "wallRatio": round(self.warm.wall_ms / self.baseline.wall_ms, 4),
            "warm": self.warm.to_json(),
            "baseline": self.baseline.to_json(),
            "projects": [project.to_json() for project in self.projects],
        }


async def measure_pipeline(settings: Settings, say: Say, repeats: int = 3, *, foreign: bool = False) -> PipelineFigures:
    """Grades three reference answers cold, warm (the median of `repeats` by processor time) and the ordinary way: with
    our graders and rules or, if `foreign`, as a suite written elsewhere."""
    async with open_tools(settings, say) as tools:
        with _bench_suite(tools, foreign) as suite:
            fresh = _with_empty_caches(tools, suite.folder / "cache")
            figures = []
            for each in suite.evals:
                say(f"{each.name}: cold and warm")
                place = suite.folder / each.name
                cold = Graded.of(await _grade(each, fresh, place / "cold"))
                warm = [Graded.of(await _grade(each, fresh, place / f"warm{n}")) for n in range(repeats)]
                warm.sort(key=lambda graded: graded.total.cpu_ms)
                say(f"{each.name}: the ordinary way")
                await Baseline(each, tools, _made(place / "first"), suite.root).measure()  # fills bun's cache
                baseline = await Baseline(each, tools, _made(place / "baseline"), suite.root).measure()
                figures.append(ProjectFigures(each.name, cold, warm[repeats // 2], baseline))
            return PipelineFigures(figures)


async def profile_pipeline(settings: Settings, say: Say, repeats: int = 5, *, foreign: bool = False) -> Profile:
    """Grades the same answers warm, and says where the processor time goes."""
    async with open_tools(settings, say) as tools:
        with _bench_suite(tools, foreign) as suite:
            for each in suite.evals:
                say(f"{each.name}: once before")
                await _grade(each, tools, suite.folder / each.name / "first")
            profiler = Profiler()
            with profiler.running():
                for number in range(repeats):
                    for each in suite.evals:
                        profiler.add(await _grade(each, tools, suite.folder / each.name / f"{number}"))
            return profiler.profile()


@dataclass(frozen=True, slots=True)
class _BenchSuite:
    """`root` is that of a suite written elsewhere; `folder` is there to grade in."""

    evals: Sequence[Eval]
    folder: Path
    root: Path | None


@contextmanager
def _bench_suite(tools: Tools, foreign: bool) -> Iterator[_BenchSuite]:
    """Elsewhere, as suites are: below our own package pytest would import that for every grader."""
    with as_file(files("convex_evals.pipeline.bench") / "suite") as bench, TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name).resolve()
        root = folder / "foreign" if foreign else None
        if root is not None:
            suite = write_foreign_suite(bench, root, tools.toolchain)
        else:
            suite = Path(shutil.copytree(bench, folder / "suite"))
        yield _BenchSuite(load_suite(suite).evals, folder, root)


def _with_empty_caches(tools: Tools, cache: Path) -> Tools:
    """The same toolchain, but nothing that earlier gradings left."""
    settings = replace(tools.settings, cache_folder=cache)
    return replace(tools, settings=settings, packages=PackageStore(cache / "projects", tools.toolchain.node, settings))


async def _grade(eval: Eval, tools: Tools, workspace: Path) -> Grade:
    result = await grade(Assignment(eval, read_answer(eval), GradingOptions(), _made(workspace)), tools)
    if result.status != "passed":
        excerpts = "; ".join(f"{step.name}: {step.excerpt}" for step in result.steps if step.status != "passed")
        raise InfrastructureError(f"The bench answer {eval.name} does not pass: {excerpts}")
    return result


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
