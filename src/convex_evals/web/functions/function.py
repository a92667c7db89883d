"""A named function: who may call it, with which arguments, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from convex_evals.scores import Right
from convex_evals.web.identity import Visitor
from convex_evals.web.results import Results
from convex_evals.web.site import Site

Kind = Literal["Query", "Mutation", "Action"]


@dataclass(frozen=True, slots=True)
class Context:
    site: Site
    results: Results
    visitor: Visitor


@dataclass(frozen=True, slots=True)
class Function:
    """`answer` gets an instance of `arguments`, and returns plain values: text, numbers, lists and dictionaries."""

    name: str
    kind: Kind
    right: Right
    arguments: type[Any]
    answer: Callable[[Context, Any], object]
    component: str | None = None


@dataclass(frozen=True, slots=True)
class NoArguments:
    pass
