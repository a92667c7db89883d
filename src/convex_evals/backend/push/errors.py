"""How a refused push reads. All are 400s: the CLI shows the message and exits, anything else makes it retry."""

from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.facts import Thrown

PUSH_PREFIX = "Hit an error while pushing:\n"
MODULES_PREFIX = "Loading the pushed modules encountered the following\n    error:\n"


def refused(code: str, message: str) -> RequestError:
    return RequestError(400, code, message)


def invalid_modules(message: str) -> RequestError:
    return refused("InvalidModules", MODULES_PREFIX + message)


def uncaught(thrown: Thrown) -> RequestError:
    """A JavaScript error that no rule explains any further."""
    return refused("Error", thrown.text)


def failed_to_analyze(path: str, thrown: Thrown) -> RequestError:
    logs = "\n".join(("", *thrown.logs)) if thrown.logs else ""
    return invalid_modules(f"Failed to analyze {path}: {thrown.text}{logs}")


def while_pushing(error: RequestError) -> RequestError:
    """The same refusal, as start_push, evaluate_push and finish_push word it."""
    return RequestError(error.status, error.code, PUSH_PREFIX + error.message)
