import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from convex_evals.core.errors import InfrastructureError
from convex_evals.scores import PlannedEval, RunPlan, ScoresStore, database_status

NOBODY = 65534


@contextmanager
def someone_else() -> Iterator[None]:
    """Nothing is read-only for root."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        if not os.access(__file__, os.R_OK, effective_ids=True):
            pytest.skip("This clone is in a folder that only root may read.")
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture
def read_only() -> Iterator[Path]:
    """Scores with one run, in a folder that may be read by everyone and written by nobody."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ScoresStore.open(folder / "scores.db") as store:
            store.create_run(RunPlan("tester", "test", "default", (PlannedEval("000-basics/000-first"),)))
            store.runs()
        (folder / "scores.db").chmod(0o444)
        folder.chmod(0o555)
        yield folder / "scores.db"
        folder.chmod(0o755)


def test_scores_that_may_only_be_read_can_be_read(read_only: Path) -> None:
    with someone_else():
        assert database_status(read_only).runs == 1
        with ScoresStore.open(read_only) as store:
            (run,) = store.runs()
            assert run.model == "tester"
            assert not store.is_run_held(run.id)


def test_scores_that_may_only_be_read_cannot_be_written(read_only: Path) -> None:
    plan = RunPlan("tester", "test", "default", (PlannedEval("000-basics/000-first"),))
    with someone_else(), ScoresStore.open(read_only) as store, pytest.raises(InfrastructureError) as caught:
        store.create_run(plan)
    assert "may not be written to" in str(caught.value)
