"""Entry point of `convex-evals`, and the one place where errors become a sentence and an exit code."""

import shlex
import sys
import traceback

from convex_evals.cli.characters import fit_streams
from convex_evals.core.distribution import PROGRAM
from convex_evals.core.errors import ConvexEvalsError, InfrastructureError

DEBUG = "--debug"
INTERRUPTED = 130


def main() -> None:
    fit_streams()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs one command line and returns its exit code. No error leaves as a traceback, unless --debug asks for it."""
    # Looked up here, not by Typer, so that it stands anywhere and helps with what goes wrong before Typer has read it.
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    debug = DEBUG in own
    arguments = [*(each for each in own if each != DEBUG), *arguments[len(own) :]]
    try:
        return _invoke(arguments, debug)
    except KeyboardInterrupt:
        return INTERRUPTED
    except ConvexEvalsError as error:
        return _report(str(error), error.exit_code, debug)
    except OSError as error:
        return _report(_refusal(error), InfrastructureError.exit_code, debug)
    except Exception as error:
        again = shlex.join([PROGRAM, DEBUG, *arguments])
        sentence = f"this is a bug in {PROGRAM} itself ({_one_line(error)}); `{again}` shows where."
        return _report(sentence, InfrastructureError.exit_code, debug)


def _invoke(arguments: list[str], debug: bool) -> int:
    # Imported here so that an interrupt while modules load is handled like any other.
    from typer import Abort, TyperException

    from convex_evals.cli.app import command_tree
    from convex_evals.cli.completion import whole_words_for_bash
    from convex_evals.cli.mistakes import sentence_of

    try:
        with whole_words_for_bash():
            result = command_tree().main(arguments, prog_name=PROGRAM, standalone_mode=False)
    except TyperException as error:
        return _report(sentence_of(error), error.exit_code, debug)
    except Abort:
        return INTERRUPTED
    return result if isinstance(result, int) else 0


def _refusal(error: OSError) -> str:
    """`the system refused /x: permission denied.` Errors of the network have no file, and some nothing but a text."""
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    what = f" {' and '.join(names)}" if names else ""
    said = error.strerror or str(error) or type(error).__name__
    reason = said[:1].lower() + said[1:] if said[1:2].islower() else said
    return f"the system refused{what}: {' '.join(reason.split()).rstrip('.')}."


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _report(sentence: str, exit_code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    from convex_evals.cli.output import print_lines

    print_lines([f"{PROGRAM}: {sentence}"], sys.stderr)
    return exit_code
