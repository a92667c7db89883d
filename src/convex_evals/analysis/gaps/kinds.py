"""Kinds of functions: in which of them something happens, and which part of Convex is used there.

"Stores the file in a mutation" and `mutation({ … ctx.storage.store(…) … })` are the same cause; a scheduler in a query
and a scheduler in an action are two.
"""

import re
from typing import Final, Literal

Kind = Literal["query", "mutation", "action"]
_DECLARED: Final = re.compile(r"(?<![.\w])(?:internal|http)?(?P<kind>query|mutation|action)\(", re.I)
_PLACED: Final = re.compile(
    r"\b(?:is|as|in|from|inside|within)(?: (?:an?|the|public|internal|http))* [`'\"]?(?:internal|http)?"
    r"(?P<kind>quer|mutation|action)(?:y|ies|s)?\b",
    re.I,
)
_CONTEXT: Final = re.compile(r"(?P<kind>Query|Mutation|Action)Ctx\b")
_STORAGE: Final[tuple[tuple[str, Kind], ...]] = (("'StorageReader'", "query"), ("'StorageWriter'", "mutation"))
_PARTS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("storage", re.compile(r"\bstorage\b|\bstor(?:e|es|ed|ing)\b|\bupload\w*", re.I)),
    ("scheduler", re.compile(r"\bschedul\w+", re.I)),
    ("database", re.compile(r"\bctx\.db\b|\bdatabase\b|'db'|\bdb (?:access|calls?|queries|reads?|writes?)\b", re.I)),
    ("network", re.compile(r"\bfetch(?:es|ing)?\b(?! the (?:user|item|doc))|\bHTTP requests?\b|\bexternal API", re.I)),
)


def kinds_of(text: str) -> frozenset[Kind]:
    """The kinds of functions in which it happens, by code, by the types of contexts, or in words."""
    found = {each["kind"].lower() for each in (*_DECLARED.finditer(text), *_PLACED.finditer(text))}
    found |= {each["kind"].lower() for each in _CONTEXT.finditer(text)}
    named: set[Kind] = {kind for mark, kind in _STORAGE if mark in text}
    return frozenset(named | {kind for kind in ALL if any(each.startswith(kind[:4]) for each in found)})


ALL: Final[tuple[Kind, ...]] = ("query", "mutation", "action")


def used_in(text: str) -> frozenset[str]:
    """Which part of Convex is used in which kind of function, such as "storage in a mutation"."""
    kinds = kinds_of(text)
    return frozenset(f"{part} in {kind}" for part, shown in _PARTS if shown.search(text) for kind in kinds)
