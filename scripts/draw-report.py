"""Draws the beginning of a report as an SVG: `draw-report.py REPORT SVG`. See scripts/picture."""

import io
import re
import runpy
import sys
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.theme import Theme

ROWS = 4
EVAL = "002-queries/002-userspace_filter"
THEME = Theme({"markdown.code": "cyan", "markdown.h1": "bold", "markdown.h2": "bold magenta"})
DRAW_SCREEN = runpy.run_path(str(Path(__file__).with_name("draw-screen.py")))


def main(report: Path, picture: Path) -> None:
    screen = io.StringIO()
    console = Console(
        width=DRAW_SCREEN["WIDTH"], file=screen, force_terminal=True, color_system="truecolor", theme=THEME
    )
    console.print(Markdown("\n\n".join(_excerpt(report.read_text())), code_theme="friendly"))
    DRAW_SCREEN["draw"](screen.getvalue(), picture)


def _excerpt(report: str) -> list[str]:
    """The tables with their first rows, and one failure in full."""
    title, *sections = re.split(r"^(?=## )", report, flags=re.MULTILINE)
    by_name = {section.partition("\n")[0].removeprefix("## "): section for section in sections}
    table = by_name["Failure classification table"].splitlines()
    failures = re.findall(r"^### .*?(?=^### |\Z)", by_name["Per-failure analysis (details)"], re.MULTILINE | re.DOTALL)
    shown = next(failure for failure in failures if EVAL in failure)
    return [title.strip(), by_name["Failure summary by step type"], "\n".join(table[: ROWS + 4]), shown]


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
