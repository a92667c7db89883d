"""Node processes that execute functions, and the protocol to them. See docs/runtime-protocol.md."""

from convex_evals.backend.runtime.action_exchange import HttpAnswer
from convex_evals.backend.runtime.gateway import OwnDeployment
from convex_evals.backend.runtime.network_policy import Network, NetworkPolicy, is_loopback
from convex_evals.backend.runtime.runtime import FunctionRuntime
from convex_evals.backend.runtime.types import (
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

__all__ = [
    "Execution",
    "Failure",
    "FunctionRuntime",
    "HttpAnswer",
    "HttpRequestHead",
    "HttpResponseHead",
    "LogBridge",
    "LogLine",
    "Network",
    "NetworkPolicy",
    "Outcome",
    "OwnDeployment",
    "StorageBridge",
    "StoredBlob",
    "SyscallBridge",
    "SyscallReply",
    "SyscallRequest",
    "is_loopback",
]
