"""Whose fault a failure is, whether it is tried again, and whether it counts: the one table.

A step names the kind of its failure; what follows from it stands here. Kinds are found from facts (exit status, npm's
code, what the deployment says), never from words in a text that a model may have written.
"""

from dataclasses import dataclass
from typing import Final

from convex_evals.core.verdicts import Status
from convex_evals.pipeline.types import Fault


@dataclass(frozen=True, slots=True)
class FailureKind:
    """`counted`: the verdict is "failed". Otherwise there is none yet: the runner's referee decides what follows.

    `fault` is one of three. "model": the answer is wrong. "either": an answer may have caused it, so what repeats on a
    fresh worker while the reference answer passes is the answer's failure. "infrastructure": no answer can cause it.
    """

    name: str
    fault: Fault
    retried: bool
    counted: bool
    meaning: str

    @property
    def status(self) -> Status:
        return "failed" if self.counted else "infrastructure"


def _model(name: str, meaning: str) -> FailureKind:
    return FailureKind(name, "model", retried=False, counted=True, meaning=meaning)


def _accident(name: str, meaning: str) -> FailureKind:
    return FailureKind(name, "either", retried=True, counted=False, meaning=meaning)


def _broken_eval(name: str, meaning: str) -> FailureKind:
    """Whether the eval is broken, or only this answer makes it look so, is for its reference answer to show."""
    return FailureKind(name, "either", retried=False, counted=False, meaning=meaning)


def _infrastructure(name: str, meaning: str) -> FailureKind:
    return FailureKind(name, "infrastructure", retried=True, counted=False, meaning=meaning)


def _lasting(name: str, meaning: str) -> FailureKind:
    """Retrying at once changes nothing: someone has to act first, or asking again would only cost money."""
    return FailureKind(name, "infrastructure", retried=False, counted=False, meaning=meaning)


_KINDS: Final = (
    # filesystem
    _model("empty-submission", "there are no files"),
    _model("path-refused", "a file has a path that could leave the project or cannot exist"),
    _model("given-changed", "a given file is changed or deleted that must stay as it is"),
    _model("size-refused", "there are too many files, or they are too large"),
    _model("generated-refused", "a file belongs to what the tools generate"),
    # install
    _model("manifest-invalid", "package.json is not what npm would read"),
    _model("dependency-refused", "a dependency does not come from the registry under its own name"),
    _model("package-not-found", "the registry has no such package"),
    _model("version-not-found", "no version of a package fits, as of the suite's date"),
    _model("dependencies-conflict", "the packages' requirements contradict each other"),
    _model("packages-too-large", "the packages are too many or too large"),
    _model("packages-unusable", "npm cannot install the packages, however often it tries"),
    _model("platform-unsupported", "a package does not run on this kind of machine"),
    _infrastructure("registry-unreachable", "the package registry did not answer, or not with what was asked for"),
    _infrastructure("registry-refused", "the package registry refused to answer us"),
    _accident("install-failed", "npm failed in a way that says nothing about the project"),
    # deploy
    _model("deploy-refused", "the CLI or the deployment found a mistake in the project"),
    _accident("push-unfinished", "the CLI says it is done, the deployment says it is not"),
    _accident("backend-failed", "the deployment could not be started or died"),
    _broken_eval("answer-broken", "the reference answer cannot be deployed, so there is nothing to compare with"),
    # tsc, eslint
    _model("type-errors", "the compiler reports errors"),
    _model("lint-findings", "the linter reports mistakes"),
    # tests
    _model("tests-failed", "a test of the grader failed"),
    _broken_eval("grader-broken", "the grader itself is wrong: it cannot be loaded, or has no tests"),
    _accident("grader-hangs", "the grader as a whole did not end in time"),
    _accident("grader-crashed", "the grader's process died, or its report contradicts its exit status"),
    _accident("deployment-lost", "a deployment stopped answering while the grader ran"),
    _lasting("browser-missing", "the grader only looks at pages, and this machine lacks what that takes"),
    # any step
    _model("tool-overwhelmed", "a tool breaks on these files and works on others"),
    _accident("tool-timeout", "a tool of ours did not end in time"),
    _accident("tool-crashed", "a tool of ours died or printed nonsense"),
    _accident("tool-missing", "a tool of ours could not be started"),
    _accident("grading-broke", "our own code could not go on"),
    _infrastructure("machine-failed", "this machine's disk cannot be used, or too many of its files are open"),
    _infrastructure("disk-full", "there is no space left for what a step writes"),
    _model("workspace-overflow", "more was written than a grading may write"),
    # no step: the runner
    _lasting("generation-failed", "no answer came however often it was asked for, and not because of the model"),
    _lasting("generation-timeout", "the answer was not complete when the time for it was over"),
    _lasting("generation-refused", "the provider will not take the request, however often it comes"),
    _lasting("model-unusable", "the key, the account or the name of the model is refused; its run ends"),
    _accident("worker-died", "the grading worker died"),
    _infrastructure("node-lost", "the machine of the cluster that graded is gone or does not answer"),
    _accident("worker-hangs", "the grading worker did not come to an end"),
    _model("accident-repeats", "grading this answer breaks down each time, grading the reference answer does not"),
)

FAILURES: Final[dict[str, FailureKind]] = {kind.name: kind for kind in _KINDS}
