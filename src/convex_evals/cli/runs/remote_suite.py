"""The evals of a run at a service: from the suite of this machine if it has them still, else from the service."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from convex_evals.core.errors import SuiteError
from convex_evals.scores import PlannedEval, RemoteScores, ScoresStore
from convex_evals.suite import Eval, find_suite, load_suite, pack_eval, unpack_eval


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
