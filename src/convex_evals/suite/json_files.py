"""The two small JSON files of a suite share their reading and their complaints."""

import json
from pathlib import Path

from convex_evals.suite.files import read_text
from convex_evals.suite.problems import BrokenError, Problem


def read_object(path: Path, example: str) -> dict[str, object]:
    text = read_text(path)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        found = f"is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        raise BrokenError(path, found, f"write it like {example}") from error
    except RecursionError as error:
        raise BrokenError(path, "is nested too deeply", f"write it like {example}") from error
    if not isinstance(value, dict):
        raise BrokenError(path, f"must hold a JSON object, not {describe(value)}", f"write it like {example}")
    return value


def unknown_keys(path: Path, value: dict[str, object], known: frozenset[str]) -> list[Problem]:
    return [
        Problem(path, f"has the unknown key {key!r}", f"remove it or use one of {', '.join(sorted(known))}")
        for key in sorted(value.keys() - known)
    ]


def describe(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"
