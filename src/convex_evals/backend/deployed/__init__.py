"""What a push leaves behind: modules, their functions, component definitions and the tree of mounted components."""

from convex_evals.backend.deployed.application import Application, ComponentDefinition, ComponentInstance, UdfConfig
from convex_evals.backend.deployed.current import CurrentApplication
from convex_evals.backend.deployed.functions import (
    AnalyzedFunction,
    AnalyzedModule,
    CronSpec,
    FunctionPath,
    HttpRoute,
    UdfType,
    Visibility,
)
from convex_evals.backend.deployed.modules import Environment, Module

__all__ = [
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
    "UdfConfig",
    "UdfType",
    "Visibility",
]
