"""The ports of a deployment: servers, the gate in front of every route, and the routes of each area."""

from convex_evals.backend.http.administration import Administration, DeployRoutes, EnvironmentRoutes, FunctionLogs
from convex_evals.backend.http.app import PUBLIC_CONNECTIONS, health_routes, main_app, sync_routes
from convex_evals.backend.http.function_calls import FunctionCalls, InlineQueryRoutes
from convex_evals.backend.http.http_actions import HttpActions, SiteApp
from convex_evals.backend.http.simulation import SimulationRoutes
from convex_evals.backend.http.storage import StorageRoutes

__all__ = [
    "PUBLIC_CONNECTIONS",
    "Administration",
    "DeployRoutes",
    "EnvironmentRoutes",
    "FunctionCalls",
    "FunctionLogs",
    "HttpActions",
    "InlineQueryRoutes",
    "SimulationRoutes",
    "SiteApp",
    "StorageRoutes",
    "health_routes",
    "main_app",
    "sync_routes",
]
