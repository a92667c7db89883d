import io

import pytest
from rich.console import Console

from convex_evals.cli import output


def test_a_table_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Console(width=30, force_terminal=True, color_system=None, markup=False)
    monkeypatch.setattr(output, "console", lambda: terminal)
    rows = output.table(["run", "model", "passed", "cost"], drop=("cost",))
    rows.add_row("0a1b2c3d", "tiny", "3", "$0.50 (provider)")
    assert output.table_lines(rows) == ["run       model  passed", "0a1b2c3d  tiny   3"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_are_broken_between_words_but_not_within_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    screen = Terminal()
    output.print_lines(
        [
            "`convex-evals show 0a1b2c3d 002-queries/003-multicolumn_equality` shows everything about it.",
            "  convex-evals analyze record-action reports/sample/report.md TEXT",
            "a name of convex-evals.toml that ends the line",
        ],
        screen,
    )
    assert screen.getvalue().splitlines() == [
        "`convex-evals show 0a1b2c3d 002-queries/003-multicolumn_equality` shows",
        "    everything about it.",
        "  convex-evals analyze record-action reports/sample/report.md TEXT",
        "a name of convex-evals.toml that ends",
        "    the line",
    ]
