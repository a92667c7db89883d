"""Entry point of `convex-evals`, and the one place where errors become a sentence and an exit code."""

import shlex
import sys
import traceback
from itertools import takewhile
from typing import TYPE_CHECKING

from convex_evals.core.errors import ConvexEvalsError, InfrastructureError

if TYPE_CHECKING:
    from typer import TyperException

PROGRAM = "convex-evals"
INTERRUPTED = 130


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs one command line and returns its exit code. No error leaves as a traceback, unless --debug asks for it."""
    # Looked up here, not by Typer, so that it also works for what goes wrong before Typer has read it.
    debug = "--debug" in takewhile(lambda argument: argument.startswith("-"), arguments)
    try:
        return _invoke(arguments, debug)
    except KeyboardInterrupt:
        return INTERRUPTED
    except ConvexEvalsError as error:
        return _report(str(error), error.exit_code, debug)
    except OSError as error:
        return _report(f"the system refused: {_one_line(error)}.", InfrastructureError.exit_code, debug)
    except Exception as error:
        again = shlex.join([PROGRAM, "--debug", *arguments])
        sentence = f"this is a bug in {PROGRAM} itself ({_one_line(error)}); `{again}` shows where."
        return _report(sentence, InfrastructureError.exit_code, debug)


def _invoke(arguments: list[str], debug: bool) -> int:
    # Imported here so that an interrupt while modules load is handled like any other.
    from typer import Abort, TyperException

    from convex_evals.cli.app import command_tree

    try:
        result = command_tree().main(arguments, prog_name=PROGRAM, standalone_mode=False)
    except TyperException as error:
        return _report(_usage_sentence(error), error.exit_code, debug)
    except Abort:
        return INTERRUPTED
    return result if isinstance(result, int) else 0


def _usage_sentence(error: "TyperException") -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else PROGRAM
    message = error.format_message() + _found(error)
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} `{path} --help` shows what there is."


def _found(error: "TyperException") -> str:
    """Typer says which value was expected; pydantic, behind it, knows which was given."""
    errors = getattr(error.__cause__, "errors", None)
    return f", but it is {errors()[0]['input']!r}" if callable(errors) else ""


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _report(sentence: str, exit_code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"{PROGRAM}: {sentence}", file=sys.stderr)
    return exit_code
