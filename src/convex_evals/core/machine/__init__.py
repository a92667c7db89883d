"""What this machine has and lacks, as plain facts; `convex-evals doctor` prints them."""

from convex_evals.core.machine.facts import Fact, Status
from convex_evals.core.machine.sandbox import SandboxSupport, probe_sandbox
from convex_evals.core.machine.survey import gather_facts

__all__ = ["Fact", "SandboxSupport", "Status", "gather_facts", "probe_sandbox"]
