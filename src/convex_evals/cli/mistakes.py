"""Mistakes on the command line, each as one sentence: what was expected, what was given, what to do."""

import re
from difflib import get_close_matches
from typing import Any, Final

from typer import TyperException

from convex_evals.cli.tree import argument_name, is_argument, shown_names
from convex_evals.core.distribution import PROGRAM

_UNKNOWN_COMMAND: Final = re.compile(r"No such command '([^']+)'")


def sentence_of(error: TyperException) -> str:
    """What is not known here is said in Typer's own words."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else PROGRAM
    message = _message(error)
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} `{path} --help` shows what there is."


def _message(error: Any) -> str:
    parameter = getattr(error, "param", None)
    match type(error).__name__:
        case "MissingParameter" if parameter is not None:
            kind = "argument" if is_argument(parameter) else "option"
            return f"The {kind} {_name(parameter)} is missing"
        case "BadParameter" if parameter is not None:
            return _bad_value(error, parameter)
        case "NoSuchOption":
            return f"There is no option {error.option_name}{_did_you_mean((error.possibilities or ())[:1])}"
        case "BadOptionUsage" if error.message.endswith("requires an argument."):
            return f"{error.option_name} must be followed by a value"
        case "BadOptionUsage" if error.message.endswith("does not take a value."):
            return f"{error.option_name} takes no value"
    return _about_commands(error) or _unexpected(error)


def _about_commands(error: Any) -> str | None:
    """None: it is about something else."""
    message, context = error.format_message(), getattr(error, "ctx", None)
    known = [] if context is None else list(getattr(context.command, "commands", {}))
    unknown = _UNKNOWN_COMMAND.match(message)
    if known and unknown:
        return f"There is no command {unknown[1]}{_close(unknown[1], known)}"
    if known and message.startswith("Missing command"):
        return f"A command is missing: {', '.join(known[:-1])} or {known[-1]}"
    return None


def _unexpected(error: Any) -> str:
    message: str = error.format_message()
    start, _, given = message.partition("argument(s) ")
    return f"Nothing more was expected, but there is {given.strip('()')}" if given and "extra" in start else message


def _bad_value(error: Any, parameter: Any) -> str:
    name, given = _name(parameter), _given(error)
    choices = parameter.type_descriptor.choices
    if choices:
        known = [str(getattr(each, "value", each)) for each in choices]
        listed = f"{', '.join(known[:-1])} or {known[-1]}"
        return f"{name} must be {listed}, but it is {given!r}{_close(str(given), known)}"
    if parameter.type_descriptor.annotation in (int, float):
        return f"{name} must be {_number(parameter)}, but it is {given!r}"
    return f"{name} cannot be {given!r}: {error.message}"


def _number(parameter: Any) -> str:
    kind = "a whole number" if parameter.type_descriptor.annotation is int else "a number"
    match parameter.min, parameter.max:
        case None, None:
            return kind
        case low, None:
            return f"{kind} of at least {low:g}"
        case None, high:
            return f"{kind} of at most {high:g}"
        case low, high:
            return f"{kind} from {low:g} to {high:g}"
    raise AssertionError


def _given(error: Any) -> object:
    """Typer says what was expected; pydantic, behind it, knows what was given."""
    errors = getattr(error.__cause__, "errors", None)
    return errors()[0]["input"] if callable(errors) else error.message


def _close(given: str, known: list[str]) -> str:
    near = get_close_matches(given.lower(), known, n=1)
    return _did_you_mean(near)


def _did_you_mean(names: Any) -> str:
    return f"; did you mean {' or '.join(names)}?" if names else ""


def _name(parameter: Any) -> str:
    return argument_name(parameter).strip("[]") if is_argument(parameter) else shown_names(parameter)[-1]
