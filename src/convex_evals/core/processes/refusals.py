"""Why a program did not start, in one sentence."""

import errno
from pathlib import Path

from convex_evals.core.errors import ProcessError, ProcessLimitError
from convex_evals.core.supervisor import wire


def refusal(request: wire.Request, failure: wire.Failure) -> ProcessError:
    if failure["stage"] == "fork":
        return ProcessLimitError(
            f"Cannot start {request['program']!r}: this machine has no room for another process "
            f"({failure['detail']}); end some of them or raise `ulimit -u`."
        )
    return ProcessError(_explain(request, failure))


def _explain(request: wire.Request, failure: wire.Failure) -> str:
    if failure["stage"] == "cwd":
        return _explain_folder(request, failure)
    if failure["stage"] == "limits":
        return (
            f"Cannot start {request['program']!r}: its resource limits {request['limits']} were refused "
            f"({failure['detail']}); lower them to what this machine allows."
        )
    if failure["stage"] == "confinement":
        return f"Cannot start {request['program']!r}: it cannot be confined here ({failure['detail']})."
    return _explain_program(request, failure)


def _explain_folder(request: wire.Request, failure: wire.Failure) -> str:
    reason = {
        errno.ENOENT: "does not exist",
        errno.ENOTDIR: "is not a folder",
        errno.EACCES: "may not be entered by this user",
    }.get(failure["errno"], f"is not usable ({failure['detail']})")
    return f"Cannot start {request['program']!r}: the working folder {request['cwd']!r} {reason}."


def _explain_program(request: wire.Request, failure: wire.Failure) -> str:
    program = request["program"]
    number = failure["errno"]
    if number == errno.ENOENT and (Path(request["cwd"]) / program).exists():
        reason = "the interpreter it names in its first line does not exist"
    else:
        reason = {
            errno.ENOENT: "there is no such file",
            errno.EACCES: "the file is not executable for this user",
            errno.ENOEXEC: "the file is not a program this system can run",
            errno.E2BIG: "its arguments and environment are longer than this system allows",
            errno.ENOMEM: "there is not enough memory",
        }.get(number, failure["detail"])
    return f"Cannot start {program!r}: {reason}."
