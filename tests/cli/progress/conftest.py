from pathlib import Path

from convex_evals.runner import WorkItem
from convex_evals.suite import Eval, EvalFingerprints, Pipeline


def make_item(name: str = "000-b", trial: int = 1, *, static: bool = False) -> WorkItem:
    """An eval of the category 000-a in a run of the model `tester`."""
    pipeline = Pipeline.STATIC if static else Pipeline.FULL
    asked = Eval("000-a", name, Path(), "", pipeline, None, None, EvalFingerprints("content", None))
    return WorkItem("r" * 32, "tester", "default", asked, trial)
