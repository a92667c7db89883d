"""Which environment variables a function sees."""

from collections.abc import Mapping

from convex_evals.backend.deployed import ComponentInstance

CLOUD_URL = "CONVEX_CLOUD_URL"
SITE_URL = "CONVEX_SITE_URL"


def visible_variables(
    instance: ComponentInstance, app_variables: Mapping[str, str], cloud_url: str, site_url: str
) -> dict[str, str]:
    """The app sees everything that was set; a component only what it was given when it was mounted."""
    built_in = {CLOUD_URL: cloud_url, SITE_URL: site_url + (instance.http_prefix or "").rstrip("/")}
    given = app_variables if instance.path == "" else _bound(instance, app_variables)
    return built_in | dict(given)


def _bound(instance: ComponentInstance, app_variables: Mapping[str, str]) -> dict[str, str]:
    bound: dict[str, str] = {}
    for name, binding in instance.env.items():
        match binding:
            case {"type": "value", "value": value}:
                bound[name] = value
            case {"type": "envVar", "name": source} if source in app_variables:
                bound[name] = app_variables[source]
    return bound
