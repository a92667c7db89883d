"""How this program is installed: from a clone or not, and with which of its optional dependencies."""

import shlex
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from convex_evals.core.errors import MissingExtraError


def package_folder() -> Path:
    return Path(__file__).resolve().parent.parent


def checkout_root() -> Path | None:
    """The clone this code runs from, or None when it was installed without one."""
    root = package_folder().parent.parent
    return root if (root / "pyproject.toml").is_file() and (root / "tests").is_dir() else None


@dataclass(frozen=True, slots=True)
class Extra:
    """`name` is what stands in brackets behind the package's name, `module` what it brings, `purpose` a noun phrase."""

    name: str
    module: str
    purpose: str

    @property
    def is_installed(self) -> bool:
        return find_spec(self.module) is not None

    @property
    def command(self) -> str:
        """Installs it into the environment that this program runs in."""
        return f"{shlex.quote(sys.executable)} -m pip install 'convex-evals[{self.name}]'"

    @property
    def advice(self) -> str:
        return f"the extra [{self.name}] is not installed; run: {self.command}"

    def require(self) -> None:
        if not self.is_installed:
            raise MissingExtraError(
                f"{self.purpose[0].upper()}{self.purpose[1:]} need {self.module}, but {self.advice}"
            )


BROWSER: Final = Extra("browser", "playwright", "graders that look at pages")
POSTGRES: Final = Extra("postgres", "psycopg", "scores in PostgreSQL")
