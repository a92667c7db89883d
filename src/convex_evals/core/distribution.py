"""How this program is installed: from a clone or not, and with which of its optional dependencies."""

import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from convex_evals.core.errors import MissingExtraError

PROGRAM: Final = "convex-evals"
_WRITTEN: Final = re.compile(rf"(`|^ *(?:\d\. )?){PROGRAM}(?= )", re.MULTILINE)
_PAGE: Final = re.compile(r"\bdocs/([\w-]+)\.md\b")


def package_folder() -> Path:
    return Path(__file__).resolve().parent.parent


def checkout_root() -> Path | None:
    """The clone this code runs from, or None when it was installed without one."""
    root = package_folder().parent.parent
    return root if (root / "pyproject.toml").is_file() and (root / "tests").is_dir() else None


def _page(name: str) -> Path | None:
    """Where a page of the documentation is: in the clone, or in the installed package."""
    root, here = checkout_root(), Path.cwd()
    path = (root / "docs" if root else package_folder() / "_docs") / f"{name}.md"
    if not path.is_file():
        return None
    return path.relative_to(here) if path.is_relative_to(here) else path


@cache
def invoked_name() -> str:
    """What to type here to start this program: `convex-evals` where PATH has it, else `./convex-evals` or a path."""
    started = Path(sys.argv[0])
    if started.resolve() == package_folder() / "__main__.py":
        return f"{Path(sys.executable).name} -m convex_evals"
    if started.name != PROGRAM:
        return PROGRAM  # imported, as in tests
    root = checkout_root()
    launcher = root / PROGRAM if root is not None and started.resolve().is_relative_to(root) else started
    found = shutil.which(PROGRAM)
    if found is not None and Path(found).resolve() in (started.resolve(), launcher.resolve()):
        return PROGRAM
    near = os.path.relpath(launcher.absolute())
    return shlex.quote(str(launcher.absolute()) if near.startswith("..") else f"./{near}")


def as_invoked(text: str) -> str:
    """The text with what can be copied from it: command lines, in backticks or at the beginning of a line, begin with
    the name that works here, and pages of the documentation are where they are here."""
    text = _WRITTEN.sub(lambda found: f"{found[1]}{invoked_name()}", text)
    return _PAGE.sub(lambda found: str(_page(found[1]) or found[0]), text)


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
