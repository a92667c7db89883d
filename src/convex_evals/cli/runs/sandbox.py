"""Before anything is asked or graded: can answers be locked in here?"""

from convex_evals.cli.output import remark
from convex_evals.core.errors import SandboxError
from convex_evals.core.machine import probe_sandbox
from convex_evals.core.processes import Sandbox


async def check_sandbox(sandbox: Sandbox) -> tuple[str, ...]:
    """What does not confine answers here although it should; says so. Raises SandboxError where it must not be so."""
    if sandbox == "none":
        remark("Answers run unconfined (--sandbox none): they can read and change whatever you can.")
        return ("everything",)
    support = await probe_sandbox()
    missing = support.missing
    if not missing:
        return ()
    lacks = f"This machine cannot lock answers in: {'; '.join(missing)}"
    if sandbox == "required" or not support.files:
        flag = "--sandbox available" if support.files else "--sandbox none"
        raise SandboxError(f"{lacks}. See `convex-evals doctor`, or accept the risk with {flag}.")
    remark(f"{lacks}. They are graded all the same (--sandbox available).")
    return missing
