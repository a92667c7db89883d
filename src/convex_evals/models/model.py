"""What a model is to the rest of the program, and those that need no provider.

`reference` and `empty` are built in; the others repeat answers: `replay:RUN` of an earlier run, `replay:DIR` of a
folder, `sample/NAME` of recordings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, Self

from convex_evals.core.distribution import checkout_root, package_folder
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.ids import prefix
from convex_evals.models.responses import parse_response
from convex_evals.scores import Generation, GenerationRecord, RunRecord
from convex_evals.suite import Eval, read_answer, read_texts

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

BUILT_IN: Final = "built-in"
"""The provider of models that need no key."""
SAMPLES: Final = "sample"
"""The provider of recorded models."""
SAMPLE: Final = f"{SAMPLES}/"


class Model(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def provider(self) -> str: ...

    def answers(self, asked: Eval, trial: int) -> bool:
        """Whether there is an answer to be had at all; what a model does not answer is not planned."""
        ...

    async def generate(self, asked: Eval, trial: int) -> Generation:
        """Asks once. Raises InfrastructureError when no answer came through no fault of the model."""
        ...


@dataclass(frozen=True, slots=True)
class EmptyModel:
    name: str = "empty"
    provider: str = BUILT_IN

    def answers(self, asked: Eval, trial: int) -> bool:
        return True

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return Generation(prompt=asked.task, response="", files={})


@dataclass(frozen=True, slots=True)
class ReferenceModel:
    answer_files: Sequence[str] = ("**/*",)
    name: str = "reference"
    provider: str = BUILT_IN

    def answers(self, asked: Eval, trial: int) -> bool:
        return True

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return Generation(prompt=asked.task, response="", files=read_answer(asked, self.answer_files))


@dataclass(frozen=True, slots=True)
class StoredGeneration:
    """Where the scores keep an answer."""

    run: str
    attempt: str


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """Of each eval and trial the latest answer; a retry only graded it again, so there is never more than one.

    `prompt` is the fingerprint of the prompts that the answers come from.
    """

    store: "ScoresStore"
    run: str
    records: dict[tuple[str, int], GenerationRecord]
    prompt: str | None = None

    @classmethod
    def of_run(cls, store: "ScoresStore", run: RunRecord) -> Self:
        found = {
            (details.attempt.eval, details.attempt.trial): details.generation
            for details in store.details(run.id)
            if details.generation is not None
        }
        if not found:
            raise UsageError(f"Run {prefix(run.id)} stored no answers; name one that did (`convex-evals status`).")
        return cls(store, run.id, found, run.fingerprints.prompt)

    def place(self, asked: str, trial: int) -> StoredGeneration:
        return StoredGeneration(self.run, self.records[asked, trial].attempt_id)

    def generation(self, asked: str, trial: int) -> Generation:
        """As it was, but without usage: nobody was asked this time."""
        record = self.records[asked, trial]
        return Generation(
            prompt=self.store.read_text(record.prompt),
            response=self.store.read_text(record.response),
            files=self.store.read_files(record.files),
            from_cache=True,
            truncated=record.truncated,
            notes=record.notes,
        )


@dataclass(frozen=True, slots=True)
class FolderReplay:
    """An answer is the folder `<category>/<name>/`, the same for every trial."""

    folder: Path
    name: str
    provider: str = BUILT_IN

    def answers(self, asked: Eval, trial: int) -> bool:
        return (self.folder / asked.id).is_dir()

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return Generation(prompt=asked.task, response="", files=read_texts(self.folder / asked.id))


@dataclass(frozen=True, slots=True)
class RunReplay:
    """The answers of an earlier run, each as it was: prompt, response and files."""

    stored: StoredAnswers
    name: str
    provider: str = BUILT_IN

    def answers(self, asked: Eval, trial: int) -> bool:
        return (asked.id, trial) in self.stored.records

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return self.stored.generation(asked.id, trial)


def samples_folder() -> Path:
    """In the clone that the code runs from, or in the installed package."""
    root = checkout_root()
    return root / "samples" if root else package_folder() / "_samples"


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """Answers with recordings; the same one in every trial. `experiment` is the one they were made with, if known."""

    folder: Path
    name: str
    provider: str = SAMPLES
    experiment: str | None = None

    @classmethod
    def named(cls, slug: str, samples: Path | None = None) -> "RecordedModel":
        """`sample/NAME`. Raises UsageError when there are no recordings of that name."""
        name = slug.removeprefix(SAMPLE)
        folder = (samples or samples_folder()) / name
        if not name or "/" in name or not folder.is_dir():
            known = sorted(each.name for each in (samples or samples_folder()).iterdir() if each.is_dir())
            near = get_close_matches(name, known, n=1)
            there_are = ", ".join(f"{SAMPLE}{each}" for each in known)
            advice = f"did you mean {SAMPLE}{near[0]}?" if near else f"there are: {there_are}."
            raise UsageError(f"There is no recorded model {slug!r}; {advice}")
        return cls(folder, slug)

    @property
    def recorded(self) -> frozenset[str]:
        """The ids of the evals that there are recordings for."""
        found = (path.relative_to(self.folder) for path in self.folder.glob("*/*.md"))
        return frozenset(path.with_suffix("").as_posix() for path in found)

    def recording(self, asked: Eval) -> Path:
        return self.folder / asked.category / f"{asked.name}.md"

    def answers(self, asked: Eval, trial: int) -> bool:
        """Always planned: an eval without a recording is an error to be seen, not left out."""
        return True

    async def generate(self, asked: Eval, trial: int) -> Generation:
        path = self.recording(asked)
        try:
            response = path.read_text(encoding="utf-8")
        except OSError as error:
            raise InfrastructureError(f"{self.name} has no recording for {asked.id}: {path} cannot be read.") from error
        return Generation(prompt=asked.task, response=response, files=parse_response(response).files)
