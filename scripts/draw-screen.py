"""Draws a captured terminal screen (text with colours) as an SVG: `draw-screen.py SCREEN SVG`. See scripts/picture."""

import io
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

WIDTH = 112
THEME = TerminalTheme(
    (250, 250, 248),
    (40, 44, 52),
    [
        (40, 44, 52),
        (185, 48, 40),
        (34, 120, 60),
        (150, 100, 0),
        (30, 90, 170),
        (140, 60, 140),
        (0, 120, 130),
        (90, 94, 100),
    ],
)
# rich's own frame loads a font from elsewhere; a picture of ours shows the same without a network.
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#fafaf8" stroke="#d0d0cc" width="100%" height="100%" rx="8"/>
<g transform="translate(14, 22)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def draw(screen: str, picture: Path) -> None:
    lines = [Text.from_ansi(line.rstrip()) for line in screen.rstrip().splitlines()]
    console = Console(width=WIDTH, record=True, file=io.StringIO(), force_terminal=True)
    for line in lines:
        console.print(line, soft_wrap=True)
    console.save_svg(str(picture), theme=THEME, code_format=FRAME)


if __name__ == "__main__":
    draw(Path(sys.argv[1]).read_text(), Path(sys.argv[2]))
