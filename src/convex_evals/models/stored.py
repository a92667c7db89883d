"""The answers that an earlier run stored."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.scores import Generation, GenerationRecord, RunRecord

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


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
