"""Commands whose options are the fields of a dataclass, so that each is spelled, explained and typed once."""

import inspect
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any, TypeVar, get_args, get_type_hints

from typer.models import OptionInfo

Options = TypeVar("Options")


def takes(
    kind: type[Options], *, without: Collection[str] = (), **instead: Any
) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Makes a command of a function of its options: every field of `kind` that is annotated with a typer option is one,
    in the order of the fields. `instead` has other annotations for some."""

    def decorate(function: Callable[[Options], None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            function(kind(**given))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__annotations__ = {}
        command.__signature__ = inspect.Signature(_parameters(kind, without, instead))  # type: ignore[attr-defined]
        return command

    return decorate


def flag_of(kind: type[object], name: str) -> str:
    """`--model` for the field `models`."""
    option = _option(get_type_hints(kind, include_extras=True)[name])
    assert option is not None, f"{name} is no option"
    return str(option.default)  # where typer keeps the first name of an annotated option


def _parameters(kind: type[Any], without: Collection[str], instead: dict[str, Any]) -> list[inspect.Parameter]:
    hints = {**get_type_hints(kind, include_extras=True), **instead}
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(kind)
        if field.name not in without and _option(hints[field.name]) is not None
    ]


def _option(annotation: Any) -> OptionInfo | None:
    return next((each for each in get_args(annotation) if isinstance(each, OptionInfo)), None)
