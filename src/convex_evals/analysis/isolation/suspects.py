"""Which of the differences are most likely to matter: those that the tools and tests speak of."""

import re
from collections.abc import Sequence

from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.isolation.patch import Patch

AT_THE_PLACE = 6
NAMED = 3
CALLED = 2
SAME_FILE = 1


def by_suspicion(patches: Sequence[Patch], evidence: Evidence) -> list[Patch]:
    """Most suspicious first; equals stay in their order."""
    return sorted(patches, key=lambda patch: -suspicion(patch, evidence))


def suspicion(patch: Patch, evidence: Evidence) -> int:
    """Points for every complaint about the lines, the names or the file of a patch, the best one counting."""
    points = [0]
    for each in evidence.failed_diagnostics[:20]:
        same_file = each.file == patch.file
        at_place = same_file and each.line is not None and patch.covers(each.line)
        said = f"{each.message}\n{each.assertion or ''}\n{each.name or ''}"
        named = any(re.search(rf"\b{re.escape(name)}\b", said) for name in patch.key.split(", ") if len(name) > 3)
        called = patch.key in _called_by(each.name or "", evidence.grader)
        points.append(AT_THE_PLACE * at_place + NAMED * named + CALLED * called + SAME_FILE * same_file)
    return max(points) + _declared_otherwise(patch, evidence)


def _called_by(test: str, grader: str) -> set[str]:
    """The functions that a test of the grader calls by their paths."""
    name = test.partition("[")[0].rpartition(" > ")[2]
    start = grader.find(f"def {name}(") if name else -1
    if start < 0:
        return set()
    body = re.split(r"\n(?=\S)", grader[start:], maxsplit=1)[0]
    return {path.rpartition(":")[2] for path in re.findall(r"[\"']([\w/]+:\w+)[\"']", body)}


def _declared_otherwise(patch: Patch, evidence: Evidence) -> int:
    """A difference in what is declared weighs more than one in how a function is written."""
    if patch.file.endswith("schema.ts"):
        return sum(each.aspect in ("table", "field", "index") for each in evidence.differences) and 2
    return 2 * any(each.place == patch.file and each.name == patch.key for each in evidence.differences)
