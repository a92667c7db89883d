"""Opening scores to look at them, and finding what a user means: a run, an attempt, the suite it was graded with."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from convex_evals.core.errors import SuiteError, UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.settings import read_settings
from convex_evals.runner import CHECK, VALIDATE, asking_of
from convex_evals.scores import (
    AttemptDetails,
    PlannedEval,
    RemoteScores,
    RunFilter,
    RunRecord,
    ScoresStore,
    checked_url,
    database_status,
    is_service,
)
from convex_evals.suite import Eval, find_suite, load_suite, pack_eval, spellings, unpack_eval

LATEST: Final = "latest"
RECENT: Final = 500
"""Runs that are searched for an address."""
NO_MODEL: Final = frozenset({CHECK, VALIDATE})
"""Labels of runs that say nothing about a model, so that `status` and `latest` pass over them."""
_RELATIVE: Final = re.compile(rf"{LATEST}(?::(?P<model>[^~]+))?(?:~(?P<back>[0-9]+))?|-(?P<nth>[1-9][0-9]*)")


@contextmanager
def existing_scores(where: str | None) -> Iterator[ScoresStore]:
    """Scores that are there, in a database or at a service: looking never makes a file."""
    if where is not None and is_service(where):
        with open_service(where) as store:
            yield store
        return
    status = database_status(where)
    if status.condition == "missing":
        raise UsageError(f"There are no scores in {status.location} yet; `convex-evals run` creates them.")
    with ScoresStore.open(where) as store:
        yield store


def open_service(url: str) -> RemoteScores:
    """A token is sent only to the service that it is meant for."""
    return RemoteScores(url, read_settings().token_for(checked_url(url)))


def last_address(where: str | None) -> str | None:
    """Where `local/NAME` was served when such a model was last run; None if none ever was."""
    if database_status(where).condition == "missing":
        return None
    with ScoresStore.open(where) as store:
        runs = store.runs(RunFilter(limit=RECENT))
    served = (asking_of(run).base_url for run in runs if run.model.startswith("local/"))
    return next((url for url in served if url is not None), None)


def find_run(store: ScoresStore, reference: str) -> RunRecord:
    """By id or its first characters; `latest`, `latest:MODEL`, the run before it `latest~1`; `-1` is `latest`."""
    relative = _RELATIVE.fullmatch(reference)
    if relative is None:
        return store.find_run(reference)
    back = int(relative["back"] or 0) if relative["nth"] is None else int(relative["nth"]) - 1
    runs = model_runs(store.runs())
    found = [run for run in runs if is_of(run, relative["model"])]
    if back < len(found):
        return found[back]
    if relative["model"] and not found:
        raise UsageError(
            f"There is no run of {relative['model']} in these scores; {model_advice(relative['model'], runs)}"
        )
    of_model = f" of {relative['model']}" if relative["model"] else ""
    there = f"there {'is' if len(found) == 1 else 'are'} {len(found)}" if found else "there is none"
    shown = f"-{back + 1}" if back and not of_model else reference
    raise UsageError(f"{shown} names no run{of_model}: {there}; `convex-evals status` lists them.")


def model_advice(wanted: str, runs: Iterable[RunRecord]) -> str:
    """What to do when no run is of the model."""
    names = {run.model for run in runs}
    close = get_close_matches(wanted, sorted(names | {name.partition("/")[2] for name in names}), n=1)
    return f"did you mean {close[0]}?" if close else "`convex-evals status` lists the runs."


def compared_runs(store: ScoresStore, references: Sequence[str]) -> list[RunRecord]:
    """Those that are named; of fewer than two, the run and the one before it of the same model and experiment."""
    if len(references) > 1:
        return [find_run(store, each) for each in references]
    after = find_run(store, references[0] if references else LATEST)
    alike = store.runs(RunFilter(model=after.model, experiment=after.experiment))
    before = next((run for run in model_runs(alike) if run.started_at < after.started_at), None)
    if before is None:
        raise UsageError(
            f"Run {prefix(after.id)} is the first of {after.model} ({after.experiment}), so there is none to "
            "compare it with; name another run (`convex-evals status` lists them)."
        )
    return [before, after]


def model_runs(runs: tuple[RunRecord, ...]) -> tuple[RunRecord, ...]:
    """Without validations and checks, unless there is nothing else."""
    return tuple(run for run in runs if not NO_MODEL & set(run.labels)) or runs


def is_of(run: RunRecord, model: str | None) -> bool:
    return model is None or model in (run.model, run.model.partition("/")[2])


def find_eval(store: ScoresStore, run: RunRecord, wanted: str) -> str:
    """`category/name` of the planned eval that is called so, or whose name is so."""
    planned = [each.eval for each in store.planned(run.id)]
    found = [each for each in planned if wanted in spellings(*each.split("/", 1))]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{wanted!r} matches {' or '.join(found)}; name one.")
    close = get_close_matches(wanted, [*planned, *(each.partition("/")[2] for each in planned)], n=1)
    advice = f"did you mean {close[0]}?" if close else f"`convex-evals show {prefix(run.id)}` lists them."
    raise UsageError(f"Run {prefix(run.id)} has no eval {wanted!r}; {advice}")


def condition(store: ScoresStore, run: RunRecord) -> str:
    """The run's status; a running one that no process works on was interrupted."""
    if run.status == "running" and not store.is_run_held(run.id):
        return "interrupted"
    return "interrupted" if run.status == "stopped" else run.status


def can_resume(store: ScoresStore, run: RunRecord) -> bool:
    """Whether something is left to do that no process is doing."""
    unfinished = run.counts.remaining or run.counts.infrastructure
    return bool(unfinished) and condition(store, run) != "running"


def find_attempt(store: ScoresStore, run: RunRecord, wanted: str, trial: int) -> AttemptDetails:
    """The result of an eval and trial, or what there is of it while there is none."""
    name = find_eval(store, run, wanted)
    tried = [details for details in store.details(run.id, name) if details.attempt.trial == trial]
    if not tried:
        last = max([run.trials, *(details.attempt.trial for details in store.details(run.id, name))])
        if trial > last:
            raise UsageError(
                f"--trial must be at most {last}, the trials of {name} in run {prefix(run.id)}; it is {trial}."
            )
        raise UsageError(f"{name} has not been tried in trial {trial} of run {prefix(run.id)} yet.")
    results = [details for details in store.result_details(run.id, name) if details.attempt.trial == trial]
    return results[-1] if results else tried[-1]


@contextmanager
def suite_for(store: ScoresStore, run_id: str, names: Collection[str], given: Path | None) -> Iterator[Path | None]:
    """A suite with the named evals as they were graded, as far as anybody has them; None is that of the run's machine.

    What was `given` by the user is taken as it is.
    """
    if given is not None or not isinstance(store, RemoteScores):
        yield given
        return
    planned = [each for each in store.planned(run_id) if each.eval in names]
    own = _own_evals()
    if all(_is_same(own.get(each.eval), each) for each in planned):
        yield find_suite()
        return
    with TemporaryDirectory(prefix="convex-evals-") as folder:
        for each in planned:
            _add(store, own.get(each.eval), each, Path(folder))
        yield Path(folder, "evals") if Path(folder, "evals").is_dir() else None


def _add(store: RemoteScores, own: Eval | None, planned: PlannedEval, folder: Path) -> None:
    packed = pack_eval(own) if own and _is_same(own, planned) else store.eval_folder(planned.eval)
    if packed is not None:
        unpack_eval(packed, folder)


def _own_evals() -> dict[str, Eval]:
    try:
        return {each.id: each for each in load_suite(find_suite()).evals}
    except SuiteError:
        return {}


def _is_same(own: Eval | None, planned: PlannedEval) -> bool:
    return own is not None and (own.fingerprints.content, own.fingerprints.grader) == (planned.content, planned.grader)
