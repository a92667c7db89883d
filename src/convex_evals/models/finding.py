"""From the name a user gives to the model that answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.core.errors import UsageError
from convex_evals.models.empty import EmptyModel
from convex_evals.models.model import Model
from convex_evals.models.recorded import SAMPLE, RecordedModel
from convex_evals.models.reference import ReferenceModel
from convex_evals.models.replay import FolderReplay, RunReplay
from convex_evals.models.stored import StoredAnswers

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


REPLAY: Final = "replay:"


def find_model(name: str, store: "ScoresStore", answer_files: Sequence[str] = ("**/*",)) -> Model:
    """The model of this name. `answer_files` are the globs that `reference` honours. Raises UsageError."""
    if name == "reference":
        return ReferenceModel(answer_files)
    if name == "empty":
        return EmptyModel()
    if name.startswith(REPLAY):
        return _find_replay(name, name.removeprefix(REPLAY), store)
    if name.startswith(SAMPLE):
        return RecordedModel.named(name)
    raise UsageError(
        f"There is no model {name!r}: this version has reference, empty, sample/apprentice, replay:DIR and replay:RUN, "
        f"and models of providers come later."
    )


def _find_replay(name: str, source: str, store: "ScoresStore") -> Model:
    """Named after the complete path or id, so that the run can be resumed from anywhere."""
    folder = Path(source).absolute()
    if source and folder.is_dir():
        return FolderReplay(folder, f"{REPLAY}{folder}")
    if not source or "/" in source:
        raise UsageError(f"{name!r} must name a folder of answers or a run, as in replay:answers or replay:0a1b2c3d.")
    run = store.find_run(source)
    return RunReplay(StoredAnswers.of_run(store, run), f"{REPLAY}{run.id}")
