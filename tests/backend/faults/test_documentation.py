"""docs/faults.md names the tests that show what it says, and no fault test is missing from it."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]
PAGE = (ROOT / "docs/faults.md").read_text()
QUOTED = re.compile(r"`((?:tests/[\w/]+/)?test_\w+\.py|test_\w+)`")
DEFINED = re.compile(r"def (test_\w+)")


def documented() -> set[tuple[Path, str]]:
    """Every test on the page, with the file that was named before it."""
    found = set()
    for line in PAGE.splitlines():
        file = FOLDER
        for name in QUOTED.findall(line):
            if name.endswith(".py"):
                file = ROOT / name if "/" in name else FOLDER / name
            else:
                found.add((file, name))
    return found


def test_every_test_that_is_named_exists() -> None:
    missing = {(file.name, name) for file, name in documented() if name not in DEFINED.findall(file.read_text())}
    assert not missing


def test_every_fault_test_is_named() -> None:
    files = [file for file in FOLDER.glob("test_*.py") if file != Path(__file__)]
    defined = {(file, name) for file in files for name in DEFINED.findall(file.read_text())}
    assert defined <= documented()
