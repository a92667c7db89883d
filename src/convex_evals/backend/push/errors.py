"""Refused pushes. All are 400s: the CLI shows the message and exits; anything else makes it retry."""

from dataclasses import dataclass, replace
from typing import Final

from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.facts import SourcePlace, Thrown

PUSH_PREFIX: Final = "Hit an error while pushing:\n"
MODULES_PREFIX: Final = "Loading the pushed modules encountered the following\n    error:\n"


@dataclass(frozen=True, slots=True)
class PushRefusal:
    """Why a push was refused, without the prefixes of its message. `module` is a path like `messages.js`."""

    code: str
    message: str
    module: str | None = None
    place: SourcePlace | None = None


class PushError(RequestError):
    def __init__(self, refusal: PushRefusal, message: str, status: int = 400) -> None:
        super().__init__(status, refusal.code, message)
        self.refusal = refusal


def refused(code: str, message: str) -> PushError:
    return PushError(PushRefusal(code, message), message)


def invalid_modules(message: str) -> PushError:
    return PushError(PushRefusal("InvalidModules", message), MODULES_PREFIX + message)


def uncaught(thrown: Thrown, code: str = "Error") -> PushError:
    """A JavaScript error that no rule explains any further."""
    return PushError(PushRefusal(code, thrown.text, place=thrown.place), thrown.text)


def failed_to_analyze(path: str, thrown: Thrown) -> PushError:
    logs = "\n".join(("", *thrown.logs)) if thrown.logs else ""
    refusal = PushRefusal("InvalidModules", thrown.text, path, thrown.place)
    return PushError(refusal, f"{MODULES_PREFIX}Failed to analyze {path}: {thrown.text}{logs}")


def prefixed(prefix: str, error: RequestError, module: str | None = None) -> PushError:
    """The same refusal with a prefix; `module` is where it comes from unless it says so itself."""
    refusal = error.refusal if isinstance(error, PushError) else PushRefusal(error.code, error.message)
    return PushError(replace(refusal, module=refusal.module or module), prefix + error.message, error.status)


def while_pushing(error: RequestError) -> PushError:
    """The same refusal, as start_push, evaluate_push and finish_push word it."""
    return prefixed(PUSH_PREFIX, error)
