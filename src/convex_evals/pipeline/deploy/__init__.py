"""The step `deploy`: the project runs on a fresh deployment, and the reference answer on another one."""

from convex_evals.pipeline.deploy.answer import AnswerFailure, deploy_answer, prepare_pushes
from convex_evals.pipeline.deploy.backends import Backend, open_answer_backend, open_backend
from convex_evals.pipeline.deploy.cli import read_cli_errors
from convex_evals.pipeline.deploy.codegen import add_missing_tsconfig
from convex_evals.pipeline.deploy.step import deploy_project

__all__ = [
    "AnswerFailure",
    "Backend",
    "add_missing_tsconfig",
    "deploy_answer",
    "deploy_project",
    "open_answer_backend",
    "open_backend",
    "prepare_pushes",
    "read_cli_errors",
]
