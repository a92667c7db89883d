"""Grades many hostile answers with one real `convex-evals run`, which has scores, a cache and a home of its own."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from convex_evals.backend.runtime.evaluation import runtime_fingerprint
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import prepare_toolchain
from convex_evals.scores import Generation, Outcome, PlannedEval, RunPlan, ScoresStore

from .answers import SUITE, HostileAnswer, Template
from .canaries import Canaries, canaries, digest
from .person import Person, names_kept_in_temporary

CATEGORIES: Final[tuple[Template, ...]] = ("plain", "web", "node", "client", "foreign")
LONGEST_RUN: Final = 1500
PREPARED: Final = ("pipeline", "projects")
"""Folders of the cache that hold what gradings have installed and prepared."""


@dataclass(frozen=True, slots=True)
class Result:
    """How an answer ended; `details` is the whole record of it."""

    status: str
    step: str | None
    kind: str | None
    seconds: float
    details: Mapping[str, Any]

    def __str__(self) -> str:
        told = "\n".join(
            f"{step['name']}: {step['excerpt'][-1500:]}" for step in self.details["steps"] if step["excerpt"]
        )
        notes = "; ".join(self.details["notes"])
        return f"{self.status} at {self.step} ({self.kind}) after {self.seconds:.1f} s {notes}\n{told}"


@dataclass(frozen=True, slots=True)
class Batch:
    """What one command came to. `told` is everything it printed, stored or reported."""

    results: Mapping[str, Result]
    shown: bytes
    """What people see: the command's output and its report."""
    kept: bytes
    """What the scores keep."""
    seconds: float


@dataclass
class World:
    """A person's home, cache, scores and neighbours, below one folder that everyone may enter."""

    person: Person
    folder: Path
    canaries: Canaries
    runs: int = 0
    _cache: Mapping[str, str] = field(default_factory=dict)

    def grade(self, answers: Sequence[HostileAnswer], *options: str, jobs: int = 2) -> Batch:
        """Answers are taken up in the order given; two at a time. `options` are more options of the command."""
        self.runs += 1
        where = self.folder / f"run{self.runs}"
        where.mkdir()
        evals = _write_suite(self.folder / f"suite/{self.runs}", answers)
        scores = self.folder / "scores" / f"{self.runs}.db"
        run = _store(scores, answers, evals, self.canaries.words)
        self.give_away()
        self.canaries.remember_files()
        started = time.monotonic()
        suite = str(self.folder / f"suite/{self.runs}/evals")
        chosen = ["--model", f"replay:{run}", "--evals", suite, "--jobs", str(jobs), *options]
        done = self._run(where, chosen, scores)
        report = (where / "out.json").read_bytes()
        return Batch(_results(report, evals), done + report, _kept(scores), time.monotonic() - started)

    def _run(self, where: Path, options: Sequence[str], scores: Path) -> bytes:
        program = [sys.executable, "-m", "convex_evals", "run", *options]
        program += ["--json", str(where / "out.json"), "--scores", str(scores)]
        with (where / "output").open("wb") as output:
            subprocess.run(
                self.person.command(self.folder, program),
                cwd=where,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=LONGEST_RUN,
            )
        told = (where / "output").read_bytes()
        assert (where / "out.json").exists(), told.decode(errors="replace")
        return told

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.folder / "home"),
            "PATH": os.environ.get("PATH", os.defpath),
            "CONVEX_EVALS_CACHE": str(self.folder / "cache"),
            **read_settings().network_environment(),
            **self.canaries.environment,
        }

    def give_away(self) -> None:
        for path in (self.folder, *self.folder.rglob("*")):
            if path.name != "toolchain" or path.parent.name != "cache":
                os.chown(path, self.person.uid, self.person.uid, follow_symlinks=False)

    def remember_cache(self) -> None:
        """What is in the cache from now on must stay as it is."""
        self._cache = self._cached()

    @property
    def is_prepared(self) -> bool:
        return all((self.folder / "cache" / name).exists() for name in PREPARED)

    def keep_cache(self) -> None:
        """What was installed and prepared so far is what other worlds begin with."""
        kept = kept_cache()
        kept.parent.mkdir(parents=True, exist_ok=True)
        incoming = Path(mkdtemp(prefix="corpus-", dir=kept.parent))
        for name in PREPARED:
            shutil.copytree(self.folder / "cache" / name, incoming / name, symlinks=True)
        try:
            incoming.rename(kept)
        except OSError:  # another process was faster
            shutil.rmtree(incoming)

    def changed_in_cache(self) -> list[str]:
        now = self._cached()
        return sorted(path for path, digest in self._cache.items() if now.get(path) != digest)

    def _cached(self) -> dict[str, str]:
        roots = [self.folder / "cache" / name for name in PREPARED]
        files = (path for root in roots for path in root.rglob("*") if path.is_file() and not path.is_symlink())
        return {str(path): digest(path) for path in files}

    def leftovers(self) -> list[str]:
        """Files in the temporary folder, and processes that still work somewhere below the world's folder."""
        kept = names_kept_in_temporary()
        files = [str(path) for path in (self.folder / "tmp").iterdir() if path.name not in kept]
        return files + [place for each in Path("/proc").glob("[0-9]*/cwd") if (place := self._inside(each))]

    def _inside(self, link: Path) -> str | None:
        try:
            place = str(link.readlink())
        except OSError:
            return None
        return f"{link}: {place}" if place.startswith(str(self.folder)) else None


@contextmanager
def open_world(person: Person, *, downloads: bool = True, prepared: Path | None = None) -> Iterator[World]:
    """With the toolchain, with what npm has downloaded before, unless it is not needed, and with a `prepared` cache if
    there is one."""
    asyncio.run(prepare_toolchain(read_settings()))
    folder = Path(mkdtemp(prefix="corpus-", dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        for name in ("home", "tmp", "scores", "suite", "outside"):
            (folder / name).mkdir()
        (folder / "cache").mkdir()
        if prepared and prepared.is_dir():
            shutil.copytree(prepared, folder / "cache", symlinks=True, dirs_exist_ok=True)
        downloaded = read_settings().cache_folder / "npm"
        if downloads and downloaded.is_dir():
            shutil.copytree(downloaded, folder / "cache/npm", ignore=shutil.ignore_patterns("tmp", "_logs"))
        with canaries(folder, person.uid) as watched:
            yield World(person, folder, watched)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kept_cache() -> Path:
    """Of the honest answers of this suite, graded with this toolchain and this deployment."""
    toolchain = asyncio.run(prepare_toolchain(read_settings()))
    named = sha256(toolchain.packages.folder.name.encode() + runtime_fingerprint().encode())
    for path in sorted(path for path in SUITE.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        named.update(str(path.relative_to(SUITE)).encode() + path.read_bytes())
    return read_settings().cache_folder / "tests" / f"corpus-{named.hexdigest()}"


def _write_suite(root: Path, answers: Sequence[HostileAnswer]) -> dict[str, str]:
    """An eval of its own for each answer; its id by the answer's name."""
    evals = {}
    for number, answer in enumerate(answers):
        category = f"{CATEGORIES.index(answer.template):03}-{answer.template}"
        evals[answer.name] = f"{category}/{number:03}-{answer.name}"
        target = root / "evals" / evals[answer.name]
        shutil.copytree(SUITE / answer.template, target, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "evals/suite.json").write_text('{"packagesBefore": "2026-11-01"}')
    return evals


def _store(scores: Path, answers: Sequence[HostileAnswer], evals: Mapping[str, str], words: Mapping[str, str]) -> str:
    """A run that holds the answers, as if a model had given them."""
    planned = tuple(PlannedEval(each) for each in evals.values())
    with ScoresStore.open(scores) as store:
        run = store.create_run(RunPlan("hostile", "test", "", planned))
        for answer in answers:
            attempt = store.begin_attempt(run, evals[answer.name])
            store.record_generation(attempt.id, Generation("", "", answer.submission(words)))
            store.finish_attempt(attempt.id, Outcome("infrastructure"))
        store.finish_run(run, "completed")
    return run


def _results(report: bytes, evals: Mapping[str, str]) -> dict[str, Result]:
    names = {eval: name for name, eval in evals.items()}
    return {
        names[each["eval"]]: Result(
            each["status"], each["failedStep"], each["failure"], each["durationMs"] / 1000, each
        )
        for each in json.loads(report)["evals"]
    }


def _kept(scores: Path) -> bytes:
    """Every step of every attempt."""
    kept = []
    with ScoresStore.open(scores) as store:
        for details in (each for run in store.runs() for each in store.details(run.id)):
            for step in details.steps:
                kept += [
                    step.excerpt.encode(errors="replace"),
                    store.read_bytes(details.logs[step.name]) if step.name in details.logs else b"",
                ]
            kept.append(repr(details.attempt).encode(errors="replace"))
    return b"\n".join(kept)
