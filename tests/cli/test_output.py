import pytest
from rich.console import Console

from convex_evals.cli import output


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (40, ["run       model  passed  cost", "0a1b2c3d  tiny   3"]),
        (20, ["0a1b2c3d · model", "    tiny · passed 3"]),
    ],
)
def test_a_table_far_too_wide_for_the_terminal_is_paragraphs(
    monkeypatch: pytest.MonkeyPatch, width: int, lines: list[str]
) -> None:
    terminal = Console(width=width, force_terminal=True, color_system=None, markup=False)
    monkeypatch.setattr(output, "console", lambda: terminal)
    rows = output.table(["run", "model", "passed", "cost"])
    rows.add_row("0a1b2c3d", "tiny", "3", "")
    assert output.table_lines(rows) == lines
