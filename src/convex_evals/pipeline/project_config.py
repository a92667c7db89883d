"""convex.json, as far as it matters outside the CLI."""

from pathlib import Path
from typing import Final

from convex_evals.pipeline.jsonc import parse_jsonc

DEFAULT_FOLDER: Final = "convex"


def functions_setting(text: str) -> str | None:
    """What convex.json says about the folder of functions; None when it says nothing that can be understood."""
    try:
        config = parse_jsonc(text)
    except ValueError:
        return None
    functions = config.get("functions") if isinstance(config, dict) else None
    return functions if isinstance(functions, str) else None


def functions_folder(project: Path) -> str:
    """Relative to the project."""
    try:
        text = (project / "convex.json").read_text(encoding="utf-8")
    except OSError:
        return DEFAULT_FOLDER
    return (functions_setting(text) or DEFAULT_FOLDER).removeprefix("./").strip("/") or DEFAULT_FOLDER
