"""Node processes that execute functions, and the protocol to them. See docs/runtime-protocol.md."""

from convex_evals.backend.runtime.action_exchange import HttpAnswer
from convex_evals.backend.runtime.evaluation import (
    Evaluated,
    Evaluation,
    ImportableDefinition,
    ModuleEvaluator,
    runtime_fingerprint,
)
from convex_evals.backend.runtime.execution import (
    Execution,
    Failure,
    HttpRequestHead,
    HttpResponseHead,
    LogBridge,
    LogLine,
    Outcome,
    StorageBridge,
    StoredBlob,
    SyscallBridge,
    SyscallReply,
    SyscallRequest,
)
from convex_evals.backend.runtime.network import Network, NetworkPolicy, OwnDeployment, is_loopback
from convex_evals.backend.runtime.protocol import Fields, ProtocolError
from convex_evals.backend.runtime.runtime import FunctionRuntime

__all__ = [
    "Evaluated",
    "Evaluation",
    "Execution",
    "Failure",
    "Fields",
    "FunctionRuntime",
    "HttpAnswer",
    "HttpRequestHead",
    "HttpResponseHead",
    "ImportableDefinition",
    "LogBridge",
    "LogLine",
    "ModuleEvaluator",
    "Network",
    "NetworkPolicy",
    "Outcome",
    "OwnDeployment",
    "ProtocolError",
    "StorageBridge",
    "StoredBlob",
    "SyscallBridge",
    "SyscallReply",
    "SyscallRequest",
    "is_loopback",
    "runtime_fingerprint",
]
