"""Writes the answers of sample/apprentice to the harder evals: `.venv/bin/python scripts/apprentice.py CATEGORY...`.

They are controls, so what becomes of them is known: of five evals in a row, three get a wrong answer and two an
alternative. Recordings that exist are left as they are.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from convex_evals.controls import Control, controls_folder, load_controls
from convex_evals.suite import Eval, find_suite, load_suite, read_answer, read_given

ROOT = Path(__file__).parents[1]
APPRENTICE = ROOT / "samples" / "apprentice"
COMMENT = "<!-- Written by hand for demonstration: sample/apprentice is not a language model. -->"
WRONG = (0, 2, 3)
"""Of five."""


def chosen(asked: Eval, controls: tuple[Control, ...], number: int) -> Control:
    kind = "wrong" if number % 5 in WRONG else "alternative"
    candidates = [control for control in controls if control.kind == kind]
    if not candidates:
        raise SystemExit(f"{asked.id} has no control that is {kind}.")
    return candidates[number % len(candidates)]


def recording(files: Mapping[str, str], given: Mapping[str, str]) -> str:
    """What an answer says: the files that it changes or adds, and the ones that it deletes."""
    changed = {path: text for path, text in files.items() if given.get(path) != text}
    removed = dict.fromkeys(given.keys() - files.keys(), "")
    sections = (section(path, text) for path, text in sorted((changed | removed).items()))
    return f"{COMMENT}\n\n# Files\n\n" + "\n".join(sections)


def section(path: str, text: str) -> str:
    fence = "````" if "```" in text else "```"
    body = text if text.endswith("\n") or not text else f"{text}\n"
    return f"## {path}\n\n{fence}{Path(path).suffix[1:]}\n{body}{fence}\n"


def main() -> None:
    folder = find_suite()
    suite = load_suite(folder)
    categories = sys.argv[1:] or sys.exit(__doc__)
    for number, asked in enumerate(each for each in suite.evals if each.category in categories):
        path = APPRENTICE / asked.category / f"{asked.name}.md"
        if path.exists():
            continue
        controls = load_controls(controls_folder(folder), asked, read_answer(asked)).controls
        control = chosen(asked, controls, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(recording(control.files, read_given(asked).files), encoding="utf-8")
        print(f"{asked.id}: {control.name}")


if __name__ == "__main__":
    main()
