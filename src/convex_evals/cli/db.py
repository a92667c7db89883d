"""What the commands `db` show: how far counted work is, and what `db check` found."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from convex_evals.cli.output import console
from convex_evals.core.ids import prefix
from convex_evals.core.text import count, listed
from convex_evals.scores import BrokenReference, DamagedArtifact, Inspection


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yields a function that takes how much is done, and the total."""
    out = console(stderr=True)
    if not out.is_terminal or out.is_dumb_terminal:
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def inspection_lines(found: Inspection) -> Iterator[str]:
    checked = f"{count(found.artifacts, 'artifact')} and {count(found.references, 'reference')}"
    if found.sound:
        yield f"{found.location}: {checked} checked, nothing is damaged"
        return
    yield from map(_artifact_line, found.damaged)
    yield from map(_reference_line, found.broken)
    yield from (f"damaged file: {each}" for each in found.file)
    damage = len(found.damaged) + len(found.broken) + len(found.file)
    yield f"{found.location}: {checked} checked, {damage} damaged; restore a backup, or delete the runs that are named"


def inspection_json(found: Inspection) -> dict[str, object]:
    return {
        "location": found.location,
        "sound": found.sound,
        "artifacts": found.artifacts,
        "references": found.references,
        "damagedArtifacts": [_artifact_json(each) for each in found.damaged],
        "brokenReferences": [asdict(each) for each in found.broken],
        "fileDamage": list(found.file),
    }


def _artifact_json(damaged: DamagedArtifact) -> dict[str, object]:
    uses = [{"run": use.run_id, "eval": use.eval, "part": use.part} for use in damaged.uses]
    return {"sha256": damaged.sha256, "uses": uses}


def _artifact_line(damaged: DamagedArtifact) -> str:
    uses = listed(f"{use.part} of {use.eval} in run {prefix(use.run_id)}" for use in damaged.uses)
    return f"damaged artifact {damaged.sha256}: {uses or 'no run refers to it'}"


def _reference_line(broken: BrokenReference) -> str:
    row, missing = "/".join(broken.key), "/".join(broken.named)
    return f"broken reference: {row} in {broken.table} needs {missing} in {broken.target}, which is missing"
