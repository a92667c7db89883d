"""The environment variables of the app."""

from convex_evals.backend.system.declarations import Context, Declarations
from convex_evals.backend.system.facts import urls
from convex_evals.backend.validators import STRING
from convex_evals.backend.values import Value

functions = Declarations()

APP = ""
TABLE = "_environment_variables"


@functions.query("frontend/listEnvironmentVariables", in_component=False)
@functions.query("cli/queryEnvironmentVariables", in_component=False)
def list_variables(context: Context) -> Value:
    """By name; built-in ones are not among them."""
    return [dict(row.value) for row in context.transaction.system.scan(APP, TABLE, "by_name")]


@functions.query("cli/queryEnvironmentVariables:get", in_component=False, name=STRING)
def get_variable(context: Context, name: str) -> Value:
    row = context.transaction.system.first(APP, TABLE, "by_name", (name,))
    if row is not None:
        return {"name": name, "value": row.value["value"]}
    built_in = urls(context).variables
    return {"name": name, "value": built_in[name]} if name in built_in else None
