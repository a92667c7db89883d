"""Where the repository is, when the package runs from a clone of it."""

from pathlib import Path


def package_folder() -> Path:
    return Path(__file__).resolve().parent.parent


def checkout_root() -> Path | None:
    """The clone this code runs from, or None when it was installed without one."""
    root = package_folder().parent.parent
    return root if (root / "pyproject.toml").is_file() and (root / "tests").is_dir() else None
