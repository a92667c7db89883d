"""What graders import. The fixtures `project`, `answer`, `files`, `app` and `web_server` need no import."""

from convex_evals.pipeline.grading.kit.app import App
from convex_evals.pipeline.grading.kit.assertions import assert_same, wait_until, without
from convex_evals.pipeline.grading.kit.caller import Caller
from convex_evals.pipeline.grading.kit.declarations import Route, same_function_spec, same_schema
from convex_evals.pipeline.grading.kit.deployment import Deployment
from convex_evals.pipeline.grading.kit.errors import CallFailed
from convex_evals.pipeline.grading.kit.sources import Sources
from convex_evals.pipeline.grading.kit.values import Int64
from convex_evals.pipeline.grading.kit.web_server import Reply, WebRequest, WebServer

__all__ = [
    "App",
    "CallFailed",
    "Caller",
    "Deployment",
    "Int64",
    "Reply",
    "Route",
    "Sources",
    "WebRequest",
    "WebServer",
    "assert_same",
    "same_function_spec",
    "same_schema",
    "wait_until",
    "without",
]
