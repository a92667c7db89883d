"""What graders import (`__all__`). The fixtures `project`, `answer`, `files`, `app`, `written_tests`,
`type_checks` and `web_server` need no import.

The names that are exported as themselves are for the code that runs graders, and for the analysis of sources.
"""

from convex_evals.pipeline.grading.kit.app import App
from convex_evals.pipeline.grading.kit.app import serve_app as serve_app
from convex_evals.pipeline.grading.kit.assertions import assert_same, wait_until, without
from convex_evals.pipeline.grading.kit.assertions import difference as difference
from convex_evals.pipeline.grading.kit.assertions import show as show
from convex_evals.pipeline.grading.kit.caller import Caller
from convex_evals.pipeline.grading.kit.chromium import BrowserNetwork as BrowserNetwork
from convex_evals.pipeline.grading.kit.chromium import Chromium as Chromium
from convex_evals.pipeline.grading.kit.client import Client, LiveQuery, at_once
from convex_evals.pipeline.grading.kit.contents import clean as clean
from convex_evals.pipeline.grading.kit.declarations import Route, same_function_spec, same_schema
from convex_evals.pipeline.grading.kit.deployment import Deployment, GivenDeployment
from convex_evals.pipeline.grading.kit.deployment import push_given as push_given
from convex_evals.pipeline.grading.kit.errors import AppBroken as AppBroken
from convex_evals.pipeline.grading.kit.errors import CallFailed
from convex_evals.pipeline.grading.kit.errors import CallTimedOut as CallTimedOut
from convex_evals.pipeline.grading.kit.errors import DeploymentLost as DeploymentLost
from convex_evals.pipeline.grading.kit.errors import DeploymentTrouble as DeploymentTrouble
from convex_evals.pipeline.grading.kit.errors import EvalBroken as EvalBroken
from convex_evals.pipeline.grading.kit.errors import Mismatch as Mismatch
from convex_evals.pipeline.grading.kit.errors import NoTimeLeft as NoTimeLeft
from convex_evals.pipeline.grading.kit.errors import TimeIsUp as TimeIsUp
from convex_evals.pipeline.grading.kit.errors import ToolCrashed as ToolCrashed
from convex_evals.pipeline.grading.kit.patience import PATIENCE as PATIENCE
from convex_evals.pipeline.grading.kit.services import Edit, TypeChecks, Variant, VariantRun, WrittenTests
from convex_evals.pipeline.grading.kit.services import Service as Service
from convex_evals.pipeline.grading.kit.sources import LANGUAGES as LANGUAGES
from convex_evals.pipeline.grading.kit.sources import NOT_WRITTEN as NOT_WRITTEN
from convex_evals.pipeline.grading.kit.sources import Chain as Chain
from convex_evals.pipeline.grading.kit.sources import Code as Code
from convex_evals.pipeline.grading.kit.sources import Import as Import
from convex_evals.pipeline.grading.kit.sources import Module as Module
from convex_evals.pipeline.grading.kit.sources import Sources
from convex_evals.pipeline.grading.kit.sources import literal as literal
from convex_evals.pipeline.grading.kit.transport import Clock as Clock
from convex_evals.pipeline.grading.kit.transport import Transport as Transport
from convex_evals.pipeline.grading.kit.values import Int64
from convex_evals.pipeline.grading.kit.web_server import Reply, WebRequest, WebServer

__all__ = [
    "App",
    "CallFailed",
    "Caller",
    "Client",
    "Deployment",
    "Edit",
    "GivenDeployment",
    "Int64",
    "LiveQuery",
    "Reply",
    "Route",
    "Sources",
    "TypeChecks",
    "Variant",
    "VariantRun",
    "WebRequest",
    "WebServer",
    "WrittenTests",
    "assert_same",
    "at_once",
    "same_function_spec",
    "same_schema",
    "wait_until",
    "without",
]
