"""HTTP servers inside this process: uvicorn with limits, and the hosts and origins that have access."""

from convex_evals.core.http.access import THIS_MACHINE, Access, InvalidAddress
from convex_evals.core.http.server import HOST, AppServer, LoopbackServer, bind, stop_signals

__all__ = [
    "HOST",
    "THIS_MACHINE",
    "Access",
    "AppServer",
    "InvalidAddress",
    "LoopbackServer",
    "bind",
    "stop_signals",
]
