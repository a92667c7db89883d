"""Facts about the deployment, its environment variables, and areas of which an embedded deployment has no records."""

from convex_evals.backend.deployed import ROOT
from convex_evals.backend.environment import CanonicalUrls, is_paused
from convex_evals.backend.ids import PUBLIC_SYSTEM_TABLE_NUMBERS
from convex_evals.backend.system.declarations import PAGINATION, Context, Declarations, last_page, object_of, optional
from convex_evals.backend.validators import BIGINT, NUMBER, STRING, ArrayValidator
from convex_evals.backend.values import Value

functions = Declarations()

VARIABLES = "_environment_variables"


def urls(context: Context) -> CanonicalUrls:
    return CanonicalUrls(context.facts.cloud_url, context.facts.site_url).overridden(context.transaction)


@functions.query("frontend/convexCloudUrl", in_component=False)
@functions.query("cli/convexUrl:cloudUrl", in_component=False)
def cloud_url(context: Context) -> Value:
    return urls(context).cloud


@functions.query("frontend/convexSiteUrl", in_component=False)
@functions.query("cli/convexUrl:siteUrl", in_component=False)
def site_url(context: Context) -> Value:
    return urls(context).site


@functions.query("frontend/deploymentState:deploymentState", in_component=False)
def deployment_state(context: Context) -> Value:
    return {"state": "paused" if is_paused(context.transaction) else "running"}


@functions.query("frontend/backendState:backendState", in_component=False)
def backend_state(context: Context) -> Value:
    return {"system": "none", "usage_limit": "none", "user": "paused" if is_paused(context.transaction) else "none"}


@functions.query("frontend/listAuthProviders", in_component=False)
def list_auth_providers(context: Context) -> Value:
    return [
        _auth_provider(dict(provider))
        for provider in (context.application.auth_providers if context.application else ())
    ]


def _auth_provider(provider: dict[str, object]) -> Value:
    """The stored form: algorithms are kept as JSON texts, quotes included."""
    if provider.get("type") != "customJwt":
        return {name: _text(provider.get(name)) for name in ("applicationID", "domain")}
    shown: dict[str, Value] = {name: _text(provider.get(name)) for name in ("applicationID", "issuer", "jwks")}
    return {**shown, "type": "customJwt", "algorithm": f'"{provider.get("algorithm")}"'}


def _text(value: object) -> Value:
    return value if isinstance(value, str) else None


@functions.query("frontend/latestExport:canExportFileStorage", in_component=False)
def can_export_file_storage(context: Context) -> Value:
    return PUBLIC_SYSTEM_TABLE_NUMBERS["_storage"] == 540


# No exports, imports, log sinks or audit log


@functions.query("frontend/latestExport", in_component=False)
@functions.query("frontend/latestExport:latestCloudExport", in_component=False)
@functions.query("cli/exports:getLatest", in_component=False)
@functions.query("cli/queryImport", in_component=False, importId=STRING)
@functions.query("frontend/deploymentEvents:lastPushEvent")
def nothing(context: Context, **_: Value) -> Value:
    return None


@functions.query("frontend/listConfiguredSinks", in_component=False)
@functions.query("frontend/snapshotImport:list", in_component=False)
@functions.query("cli/queryImport:list", in_component=False)
@functions.query("frontend/listDeploymentEventsFromTime", in_component=False, fromTimestamp=NUMBER)
def none_of_them(context: Context, **_: Value) -> Value:
    return []


EVENT_FILTERS = object_of(
    minDate=NUMBER,
    maxDate=optional(NUMBER),
    authorMemberIds=optional(ArrayValidator(BIGINT)),
    actions=optional(ArrayValidator(STRING)),
)


@functions.query(
    "frontend/paginatedDeploymentEvents", in_component=False, paginationOpts=PAGINATION, filters=optional(EVENT_FILTERS)
)
def no_deployment_events(context: Context, **_: Value) -> Value:
    return last_page()


@functions.query("frontend/listEnvironmentVariables", in_component=False)
@functions.query("cli/queryEnvironmentVariables", in_component=False)
def list_variables(context: Context) -> Value:
    """By name; built-in ones are not among them."""
    return [dict(row.value) for row in context.transaction.system.scan(ROOT, VARIABLES, "by_name")]


@functions.query("cli/queryEnvironmentVariables:get", in_component=False, name=STRING)
def get_variable(context: Context, name: str) -> Value:
    row = context.transaction.system.first(ROOT, VARIABLES, "by_name", (name,))
    if row is not None:
        return {"name": name, "value": row.value["value"]}
    built_in = urls(context).variables
    return {"name": name, "value": built_in[name]} if name in built_in else None
