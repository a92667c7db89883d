"""From a path to the deployed function behind it, with the refusals a caller gets."""

from dataclasses import dataclass

from convex_evals.backend.deployed import (
    AnalyzedFunction,
    Application,
    ComponentInstance,
    Environment,
    FunctionPath,
    UdfType,
)
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.paths import is_callable
from convex_evals.backend.functions.types import Call
from convex_evals.backend.identity import may_call_internal

PAUSED = (
    "Cannot run functions while this deployment is paused. Resume the deployment in the dashboard settings to allow "
    "functions to run."
)


@dataclass(frozen=True, slots=True)
class Target:
    """A function that exists, in the application version it was found in."""

    path: FunctionPath
    function: AnalyzedFunction
    instance: ComponentInstance
    environment: Environment
    application: Application

    @property
    def shown(self) -> str:
        """`public.js:get in 'counter'`, as most texts name it."""
        return f"{self.path.canonical}{self.path.in_component}"


def find(application: Application | None, path: FunctionPath) -> Target | None:
    if application is None or not is_callable(path):
        return None
    instance, function, module = (
        application.instance(path.component),
        application.function(path),
        application.module(path),
    )
    if instance is None or function is None or module is None:
        return None
    return Target(path, function, instance, module.environment, application)


def find_for_caller(application: Application | None, call: Call) -> Target:
    """Missing and not visible are told apart by nobody."""
    target = find(application, call.path)
    if target is None or not _is_visible(target, call):
        raise DeveloperError(f"Could not find public function for '{call.path.stripped}'{call.path.in_component}.")
    return target


def find_by_registration(application: Application | None, call: Call) -> Target:
    target = find(application, call.path)
    if target is None or not _is_visible(target, call):
        raise DeveloperError(
            f"Could not find function for '{call.path.stripped}'{call.path.in_component}. "
            "Did you forget to run `npx convex dev`?"
        )
    return target


def check_type(target: Target, udf_type: UdfType) -> None:
    if target.function.udf_type != udf_type:
        raise DeveloperError(
            f"Trying to execute {target.shown} as {udf_type}, but it is defined as {target.function.udf_type}."
        )


def _is_visible(target: Target, call: Call) -> bool:
    if call.allow_internal or may_call_internal(call.identity):
        return True
    return target.path.component == "" and target.function.visibility != "internal"
