"""What stays the same when the same mistake is made in another file, project or run."""

import re
from typing import Final

LONGEST: Final = 160
_STACK: Final = re.compile(r"^\s+at .*$", re.MULTILINE)
_REPLACED: Final = (
    (re.compile(r"\[Request ID: [0-9a-f]+\]\s*"), ""),
    (re.compile(r"https?://(?:127\.0\.0\.1|localhost)(?::\d+)?\S*"), "URL"),
    (re.compile(r"\b(?=[a-z0-9]*\d)[0-9a-hjkmnp-tv-z]{31,37}\b"), "ID"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "ID"),
    (
        re.compile(r"(?:\.{0,2}/)?(?:[\w.@-]+/)*[\w.-]+\.(?:tsx?|jsx?|mjs|cjs|py|json)(?:[:(]\d+(?:[:,]\d+)?\)?)?"),
        "FILE",
    ),
    # A bundler renames variables, so `o.map` and `e.map` are the same complaint.
    (re.compile(r"\b[A-Za-z]\$?\d?\.(?=\w)"), "_."),
    (re.compile(r"\b\d+(?:\.\d+)?\b"), "N"),
)


def normalised(message: str) -> str:
    """The message without stack, places, ids, addresses and numbers, on one line."""
    text = _STACK.sub("", message)
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def without_type_arguments(message: str) -> str:
    """`type 'OrderedQuery<{ … }>'` is `type 'OrderedQuery'`: arguments name the tables of one project."""
    return re.sub(r"'([\w.\"$]+)<[^']*'", r"'\1'", message)
