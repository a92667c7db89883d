"""Where reports are: reports/{provider}/{model}/{run[:8]}_{date}.md, and a JSON twin beside each."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.ids import prefix

LONGEST: Final = 80
FOLDER: Final = "reports"


@dataclass(frozen=True, slots=True)
class ReportPaths:
    markdown: Path
    json: Path


def report_folder(root: Path, provider: str, model: str) -> Path:
    """A model that is called after its provider is not called so twice."""
    own = model.removeprefix(f"{provider}/")
    return root / _safe(provider) / _safe(own)


def report_paths(root: Path, provider: str, model: str, run: str, date: str) -> ReportPaths:
    stem = report_folder(root, provider, model) / f"{prefix(run)}_{date}"
    return ReportPaths(stem.with_name(f"{stem.name}.md"), stem.with_name(f"{stem.name}.json"))


def _safe(name: str) -> str:
    """One folder, whatever the name: `replay:/home/ada/answers` has slashes and `..` would lead out."""
    text = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "unnamed"
    if text == name and len(text) <= LONGEST:
        return text
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{text[:LONGEST]}-{digest}"
