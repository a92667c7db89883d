"""A fact about this machine, and how bad it is."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"  # works without it, but less well
    MISSING = "missing"  # must be fixed first


@dataclass(frozen=True, slots=True)
class Fact:
    """`fix` is the exact command or edit that helps; None when nothing needs fixing."""

    name: str
    status: Status
    detail: str
    fix: str | None = None
