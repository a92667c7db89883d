"""Which environment variables a function sees."""

from collections.abc import Mapping
from dataclasses import replace

from convex_evals.backend.deployed import ComponentInstance
from convex_evals.backend.functions.state import DeploymentState


def visible_variables(instance: ComponentInstance, state: DeploymentState) -> dict[str, str]:
    """The app sees everything that was set; a component only what it was given when it was mounted."""
    prefix = (instance.http_prefix or "").rstrip("/")
    built_in = replace(state.urls, site=state.urls.site + prefix).variables
    given = state.variables if instance.path == "" else _bound(instance, state.variables)
    return built_in | given


def _bound(instance: ComponentInstance, app_variables: Mapping[str, str]) -> dict[str, str]:
    bound: dict[str, str] = {}
    for name, binding in instance.env.items():
        match binding:
            case {"type": "value", "value": value}:
                bound[name] = value
            case {"type": "envVar", "name": source} if source in app_variables:
                bound[name] = app_variables[source]
    return bound
