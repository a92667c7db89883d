"""An embedded Convex deployment: the real CLI deploys to it, real clients talk to it.

`sync` (the subscription protocol), `bench` and `conformance` (tools around it) have interfaces of their own.
"""

from typing import TYPE_CHECKING

from convex_evals.core.lazy import load_on_demand

if TYPE_CHECKING:
    from convex_evals.backend.admin_keys import LOCAL_ADMIN_KEY, LOCAL_NAME, LOCAL_SECRET, secret_for
    from convex_evals.backend.deployment import DEFAULT_NAME, Deployment, DeploymentSettings, run_backend_in_foreground
    from convex_evals.backend.errors import DeveloperError, RequestError, SystemFailure
    from convex_evals.backend.push import PushRefusal, PushRequest
    from convex_evals.backend.runtime import Network, NetworkPolicy
    from convex_evals.backend.values import Value, decode, encode

__all__ = [
    "DEFAULT_NAME",
    "LOCAL_ADMIN_KEY",
    "LOCAL_NAME",
    "LOCAL_SECRET",
    "Deployment",
    "DeploymentSettings",
    "DeveloperError",
    "Network",
    "NetworkPolicy",
    "PushRefusal",
    "PushRequest",
    "RequestError",
    "SystemFailure",
    "Value",
    "decode",
    "encode",
    "run_backend_in_foreground",
    "secret_for",
]

# An error or a value must not cost the time to load a whole deployment.
__getattr__ = load_on_demand(
    __name__,
    {
        "admin_keys": ("LOCAL_ADMIN_KEY", "LOCAL_NAME", "LOCAL_SECRET", "secret_for"),
        "deployment": ("DEFAULT_NAME", "Deployment", "DeploymentSettings", "run_backend_in_foreground"),
        "errors": ("DeveloperError", "RequestError", "SystemFailure"),
        "push": ("PushRefusal", "PushRequest"),
        "runtime": ("Network", "NetworkPolicy"),
        "values": ("Value", "decode", "encode"),
    },
)
