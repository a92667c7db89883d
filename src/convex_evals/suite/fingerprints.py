"""Fingerprints say whether two results answer the same question and were graded the same way.

The canonical form is the listing `sha256sum` prints: one line `<sha256>  <name>` per entry, sorted by the bytes of
the name, every line ended by a newline. The fingerprint is the SHA-256 of that listing.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    sha256: str
    name: str


@dataclass(frozen=True)
class EvalFingerprints:
    content: str
    """Task and reference answer."""
    grader: str | None
    """Grader, eval.json and the suite's shared grader files; None while there is no grader."""


def fingerprint_entry(name: str, content: bytes) -> Entry:
    return Entry(hashlib.sha256(content).hexdigest(), name)


def fingerprint(entries: Iterable[Entry]) -> str:
    ordered = sorted(entries, key=lambda each: each.name.encode())
    listing = "".join(f"{each.sha256}  {each.name}\n" for each in ordered)
    return hashlib.sha256(listing.encode()).hexdigest()
