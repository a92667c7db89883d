"""From pushed modules to a deployed application: start_push, wait_for_schema, finish_push."""

from convex_evals.backend.push.analysis import Analyzer, RememberedEvaluations
from convex_evals.backend.push.errors import PushRefusal
from convex_evals.backend.push.pusher import Pusher
from convex_evals.backend.push.request import PushRequest, canonical_module_path, module_path_error
from convex_evals.backend.push.storage import load_application
from convex_evals.backend.push.variables import VariableUpdates

__all__ = [
    "Analyzer",
    "PushRefusal",
    "PushRequest",
    "Pusher",
    "RememberedEvaluations",
    "VariableUpdates",
    "canonical_module_path",
    "load_application",
    "module_path_error",
]
