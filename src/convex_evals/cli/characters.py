"""What the terminal can show: where that is only ASCII, other signs are replaced.

Standard output and standard error get an encoding of our own that replaces signs, so that whatever prints (Rich, the
menu, help) need not know. Tables and progress replace them before they measure columns.
"""

import codecs
import io
import os
import sys
from collections.abc import Mapping
from typing import Final, TextIO

ENCODING: Final = "convex-evals-ascii"
SIGNS: Final = {
    "✓": "+",
    "✗": "x",
    "✖": "x",
    "✘": "x",
    "…": "...",
    "·": "-",
    "•": "*",
    "●": "*",
    "○": "o",
    "»": ">",
    "❯": ">",
    "→": "->",
    "↓": "v",
    "×": "x",
    "≥": ">=",
    "−": "-",
    "–": "-",
    "—": "-",
    "─": "-",
    "━": "-",
    "⎯": "-",
    "│": "|",
    "├": "|",
    "└": "`",
    "█": "#",
    "░": ".",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "\N{NO-BREAK SPACE}": " ",
}
_TABLE: Final = str.maketrans(SIGNS)
_WITHOUT_CHARACTERS: Final = frozenset({"C", "POSIX"})
_COERCED: Final = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})
"""What Python itself puts into LC_CTYPE when the locale is C."""


def fit_streams() -> None:
    """Call once, before anything is printed."""
    codecs.register(_find)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and is_ascii_only(stream, os.environ):
            stream.reconfigure(encoding=ENCODING)


def is_ascii_only(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """An unset locale says nothing: most terminals know every character nowadays."""
    if not (stream.encoding or "").lower().startswith("utf"):
        return True
    dumb = environment.get("TERM") == "dumb" and stream.isatty()
    return dumb or _locale(environment) in _WITHOUT_CHARACTERS


def drawn(text: str, stream: TextIO | None = None) -> str:
    """As the stream will show it (default: standard output)."""
    return text.translate(_TABLE) if (stream or sys.stdout).encoding == ENCODING else text


def _locale(environment: Mapping[str, str]) -> str:
    """What the user has set."""
    if everything := environment.get("LC_ALL"):
        return everything
    characters = environment.get("LC_CTYPE", "")
    return characters if characters and characters not in _COERCED else environment.get("LANG", "")


def _encode(text: str, errors: str = "strict") -> tuple[bytes, int]:
    return text.translate(_TABLE).encode("ascii", "backslashreplace"), len(text)


class _Encoder(codecs.IncrementalEncoder):
    def encode(self, input: str, final: bool = False) -> bytes:
        return _encode(input)[0]


def _find(name: str) -> codecs.CodecInfo | None:
    if name.replace("_", "-") != ENCODING:
        return None
    ascii_codec = codecs.lookup("ascii")
    return codecs.CodecInfo(
        _encode,
        ascii_codec.decode,
        incrementalencoder=_Encoder,
        incrementaldecoder=ascii_codec.incrementaldecoder,
        name=ENCODING,
    )
