"""The step `install`: a project gets its dependencies, as of the suite's date, from a cache shared by all."""

from convex_evals.pipeline.install.step import find_packages, install_packages

__all__ = ["find_packages", "install_packages"]
