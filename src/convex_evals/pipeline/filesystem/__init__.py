"""The step `filesystem`: the model's files become a project, if their paths and sizes allow it."""

from convex_evals.pipeline.filesystem.step import write_project

__all__ = ["write_project"]
