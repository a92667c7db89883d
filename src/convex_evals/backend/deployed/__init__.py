"""What a push leaves behind: modules, their functions, component definitions and the tree of mounted components."""

from convex_evals.backend.deployed.application import (
    ROOT,
    Application,
    ComponentDefinition,
    ComponentInstance,
    CurrentApplication,
    NodePackage,
    UdfConfig,
)
from convex_evals.backend.deployed.functions import (
    AnalyzedFunction,
    AnalyzedModule,
    CronSpec,
    Environment,
    FunctionPath,
    HttpRoute,
    Module,
    Position,
    UdfType,
    Visibility,
)

__all__ = [
    "ROOT",
    "AnalyzedFunction",
    "AnalyzedModule",
    "Application",
    "ComponentDefinition",
    "ComponentInstance",
    "CronSpec",
    "CurrentApplication",
    "Environment",
    "FunctionPath",
    "HttpRoute",
    "Module",
    "NodePackage",
    "Position",
    "UdfConfig",
    "UdfType",
    "Visibility",
]
