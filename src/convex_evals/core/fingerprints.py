"""What stays the same when the same mistake is made in another file, project or run.

A fingerprint is a kind and what is told of the mistake: `lint:no-debugger`, `type:TS2339 Property 'iter' …`,
`deploy:IndexFieldsContainCreationTime`, `runtime:TypeError: …`, `test:test_lists`. Reports and scores keep them, so
their form is promised.
"""

import re
from typing import Final

LONGEST: Final = 160
LONGEST_NAME: Final = 200
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
# Errors about a name that is not there: the name is the mistake. In others it is whatever the project calls it.
_ABOUT_MEMBERS: Final = frozenset({"TS2305", "TS2307", "TS2339", "TS2353", "TS2551", "TS2561", "TS2614", "TS2724"})
_QUOTED: Final = re.compile(r"'[^']*'")
_TYPE_ARGUMENTS: Final = re.compile(r"'([\w.\"$]+)<[^']*'")
_THROWN: Final = re.compile(r"Uncaught (?P<error>\w*Error: [^\n]+?)(?=\\n|[\"'], [\"']|\n|$)")


def normalised(message: str) -> str:
    """The message without stack, places, ids, addresses and numbers, on one line."""
    text = _STACK.sub("", message[: 100 * LONGEST])
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def without_type_arguments(message: str) -> str:
    """`type 'OrderedQuery<{ … }>'` is `type 'OrderedQuery'`: arguments name the tables of one project."""
    return _TYPE_ARGUMENTS.sub(r"'\1'", message)


def of_type_error(code: str, message: str) -> str:
    first = without_type_arguments(message.partition("\n")[0])
    shown = first if code in _ABOUT_MEMBERS else _QUOTED.sub("'…'", first)
    return f"type:{code} {normalised(shown)}"


def of_finding(rule: str) -> str:
    return f"lint:{rule[:LONGEST_NAME]}"


def of_bundler_error(message: str) -> str:
    return f"deploy:bundle {normalised(message)}"


def of_refusal(code: str | None, message: str) -> str:
    """A deployment's code says it all; without one, the first line of what it says."""
    if code is not None:
        return f"deploy:{code[:LONGEST_NAME]}"
    return f"deploy:refused {normalised(next((line for line in message.splitlines() if line.strip()), ''))}"


def of_test(name: str, message: str) -> str:
    """An error that the answer threw says more than the test that met it, and is the same in other evals."""
    thrown = _THROWN.search(message)
    return f"runtime:{normalised(thrown['error'])}" if thrown else f"test:{name.partition('[')[0][:LONGEST_NAME]}"


def of_step(kind: str, name: str | None, message: str) -> str:
    """Of a complaint that is known in its own words only."""
    return f"{kind}:{name or normalised(message.partition(chr(10))[0])}"
