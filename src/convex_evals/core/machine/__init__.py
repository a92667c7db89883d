"""What this machine has and lacks, as plain facts; `convex-evals doctor` prints them."""

from convex_evals.core.machine.fact import Fact, Status
from convex_evals.core.machine.facts import gather_facts
from convex_evals.core.machine.sandbox import SandboxSupport, probe_sandbox

__all__ = ["Fact", "SandboxSupport", "Status", "gather_facts", "probe_sandbox"]
