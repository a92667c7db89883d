"""What can go wrong between a grader and a deployment. One tree, drawn once:

DeploymentTrouble             `deployment` is "project" or "answer"
├── CallFailed                a function answered with an error
├── CallTimedOut              a function did not answer in time
├── Unreadable                a function answered with something that is not HTTP, or too much of it
├── Refused                   the request itself was refused
└── DeploymentLost            the deployment does not answer, or failed by itself: nobody's answer is wrong

Mismatch                      a value is not what was expected
AppBroken                     the model's web app cannot be built
ToolCrashed                   esbuild or the browser does not start: nobody's answer is wrong
EvalBroken                    the grader cannot work: the author's mistake, not the model's
NoTimeLeft                    a test could not begin: those before it took the time of the whole grader
TimeIsUp                      a test hung in the grader's own code
"""

from typing import Final

LONGEST_TEXT: Final = 100_000  # of what a function said when it failed


class DeploymentTrouble(Exception):
    def __init__(self, deployment: str, text: str) -> None:
        super().__init__(text)
        self.deployment = deployment


class CallFailed(DeploymentTrouble):
    """`message` is the error's text without request id and frames; `data` is that of a ConvexError."""

    def __init__(self, deployment: str, path: str, text: str, data: object = None, has_data: bool = False) -> None:
        head, _, rest = text.partition("\n")
        self.path = path
        self.text = (rest if head.startswith("[Request ID: ") else text).rstrip("\n")[:LONGEST_TEXT]
        self.message = _without_frames(self.text)
        self.data = data
        self.has_data = has_data
        super().__init__(deployment, f"{path} failed on the {deployment} deployment: {self.text}")


class CallTimedOut(DeploymentTrouble, AssertionError):
    def __init__(self, deployment: str, what: str, seconds: float) -> None:
        super().__init__(deployment, f"{what} did not answer within {seconds:.3g} s on the {deployment} deployment")


class NoTimeLeft(AssertionError):
    """For a test whose turn never came."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no time was left: the tests before this one took the {seconds:.3g} s that the grader has")


class Unreadable(DeploymentTrouble, AssertionError):
    def __init__(self, deployment: str, what: str, reason: str) -> None:
        super().__init__(deployment, f"{what} sent an unreadable response on the {deployment} deployment ({reason})")


class Refused(DeploymentTrouble):
    def __init__(self, deployment: str, what: str, status: int, body: str) -> None:
        super().__init__(deployment, f"{what} was refused by the {deployment} deployment: {status} {body}")
        self.status = status
        self.body = body


class DeploymentLost(DeploymentTrouble):
    pass


class Mismatch(AssertionError):
    """`expected` and `received` are shown values; the message has them too, in words."""

    def __init__(self, message: str, expected: str, received: str) -> None:
        super().__init__(message)
        self.expected = expected
        self.received = received


class AppBroken(AssertionError):
    pass


class ToolCrashed(Exception):
    pass


class EvalBroken(Exception):
    pass


class TimeIsUp(BaseException):
    """No `Exception`, so that a grader which catches everything cannot catch this."""


def _without_frames(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith("    at ")]
    return "\n".join(lines).removeprefix("Uncaught Error: ").removeprefix("Uncaught ConvexError: ")
