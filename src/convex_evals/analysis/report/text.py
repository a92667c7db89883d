"""Untrusted text in Markdown: shown as text, whatever it says."""

import re

from convex_evals.core.wording import visible

_SPECIAL = re.compile(r"([\\`*\[\]|<>&~]|(?<!\w)_|_(?!\w)|^[#+>-])")


def inline(text: str) -> str:
    """One line of plain words: no markup, no HTML, no table cell of its own."""
    line = " ".join(visible(text).split())
    return _SPECIAL.sub(r"\\\1", line)


def code(text: str) -> str:
    """`text` on one line, with as many backquotes around it as it takes."""
    line = " ".join(visible(text).split()).replace("|", "\\|")
    if not line:
        return ""
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "ts", indent: str = "") -> str:
    """A block that nothing in the text can close."""
    fence = "`" * max(3, _longest_run(text) + 1)
    lines = [f"{fence}{language}", *visible(text).strip("\n").splitlines(), fence]
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
