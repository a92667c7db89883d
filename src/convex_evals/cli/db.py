"""What `db check` shows of what it found."""

from collections.abc import Iterator
from dataclasses import asdict

from convex_evals.core.ids import prefix
from convex_evals.core.text import count, listed
from convex_evals.scores import BrokenReference, DamagedArtifact, Inspection


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
