"""The model's mistakes: APIs that do not exist, files nobody asked for, types, lint, wrong behaviour."""

import re
from collections.abc import Mapping
from typing import Final

from convex_evals.analysis.classification.rules.opinion import GRADERS_OWN, Complaint, Opinion
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.task import read_task
from convex_evals.core.text import sentence, shortened

_PATH: Final = re.compile(r"(?<![\w./-])((?:src|convex|app|pages|components|lib)/[\w./-]+\.(?:tsx?|jsx?))\b")
_NOT_ITS_OWN: Final = re.compile(rf"(?:^|/)(?:_generated|node_modules)/|{GRADERS_OWN.pattern}")


def invented_api(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The answer uses something that the installed package does not have."""
    if not evidence.unknown_symbols or complaint.kind == "lint":
        return None
    symbol = evidence.unknown_symbols[0]
    others = len(evidence.unknown_symbols) - 1
    more = f", and {others} more" if others else ""
    return Opinion(
        "model",
        "invented_api",
        f"Uses an API that does not exist: {symbol}{more}.",
        f"The types of the installed convex package say that {symbol}{more}. "
        f"The step {evidence.failed_step} failed over code that cannot work in any project.",
        f"the types of the convex package: {symbol}",
        (f"{symbol.file}:{symbol.line}" if symbol.file else str(symbol), complaint.place),
    )


def unrequested_file(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The complaint is about a file that neither the task nor the reference has, and the task does not leave open."""
    path = _file(complaint, evidence)
    if evidence.failed_step == "tests" or path is None or not evidence.answer or not evidence.task:
        return None
    task = read_task(evidence.task)
    if _NOT_ITS_OWN.search(path) or _is_in(path, evidence.answer) or task.asks_for_file(path) or task.leaves_open(path):
        return None
    return Opinion(
        "model",
        "unrequested_file",
        f"{path} was not asked for, and it is what fails: {complaint.said}",
        f"The complaint ({complaint.said}) is about {path}, which the task does not ask for and the reference does "
        f"not have. What an answer adds of its own accord is its own responsibility.",
        f"{path} is in neither the task nor the reference",
        (complaint.place or path,),
    )


def forbidden_by_task(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The task says not to do what the comparison complains about."""
    if complaint.kind != "declarations":
        return None
    added = _added(evidence)
    task = read_task(evidence.task)
    broken = next((rule for word in sorted(added) if (rule := task.forbids(word))), None)
    if broken is None:
        return None
    return Opinion(
        "model",
        "forbidden_by_task",
        f"Does what the task rules out: {shortened(broken.text, 100)}",
        f"The task says “{shortened(broken.text, 200)}”, and the answer does it anyway. "
        f"The comparison ({complaint.said}) only notices.",
        f"the task: “{shortened(broken.text, 120)}”",
        (complaint.place,),
    )


def broken_lint(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The linter has found something that matters."""
    if complaint.kind != "lint":
        return None
    name = complaint.diagnostic.name or "a rule"
    tests = " The tests pass, so the code is careless rather than wrong." * bool(
        evidence.counterfactuals.behaviour_passes
    )
    return Opinion(
        "model",
        "broken_lint",
        f"The linter reports {name}: {shortened(complaint.message)}",
        f"The linter found {name} at {complaint.diagnostic.place or 'an unknown place'}, a rule about mistakes and not "
        f"about style, and the task does not license it.{tests}",
        f"{name} finds mistakes, not matters of style",
        (complaint.place,),
    )


def missing_set_up(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """Types or packages that the answer's own code needs are not in its project."""
    if complaint.kind != "set-up":
        return None
    return Opinion(
        "model",
        "missing_set_up",
        f"The project lacks what its own code needs: {complaint.said}",
        f"The compiler misses a type or a package ({complaint.said}) that the answer's own package.json or "
        f"configuration would have to bring. Nothing shows that the reference fails in the same way.",
        "the compiler misses what the answer itself should have declared",
        (complaint.place,),
    )


def broken_types(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The compiler has found a mistake."""
    if complaint.kind != "types":
        return None
    code = complaint.diagnostic.name or "a mistake"
    return Opinion(
        "model",
        "broken_types",
        f"The compiler reports {code}: {complaint.said}",
        f"The compiler found {code} at {complaint.diagnostic.place or 'an unknown place'}: {sentence(complaint.said)}",
        f"the compiler's {code}",
        (complaint.place,),
    )


def wrong_behaviour(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """A test failed, and nothing says that it should not have."""
    if complaint.kind not in ("behaviour", "declarations"):
        return None
    stated = [demand.text for demand in evidence.counterfactuals.demands if demand.stated]
    title = (complaint.diagnostic.name or "a test").removeprefix("test_").replace("_", " ")
    rule = read_task(evidence.task).closest(title, stated) if stated else None
    said = f" The task says: “{shortened(rule.text, 200)}”" if rule else ""
    return Opinion(
        "model",
        "wrong_behaviour",
        f"{title}: {complaint.said}",
        f"The test {complaint.diagnostic.name or 'that failed'} found that the answer does not do what is asked: "
        f"{sentence(complaint.said)}{said}",
        f"the task: “{shortened(rule.text, 120)}”" if rule else "a test of behaviour, with nothing against it",
        (complaint.place,),
    )


def refused_answer(complaint: Complaint, evidence: Evidence) -> Opinion:
    """What a step refuses is the answer's, unless something says otherwise."""
    return Opinion(
        "model",
        "refused_answer",
        f"The step {evidence.failed_step} refused the answer: {complaint.said}",
        f"The step {evidence.failed_step} failed and said: {sentence(complaint.said)} "
        f"Nothing in the evidence points at the task, the grader or a documented gap.",
        f"what the step {evidence.failed_step} said",
        (complaint.place,),
    )


def _file(complaint: Complaint, evidence: Evidence) -> str | None:
    """Where the complaint is. Where people wrote the failure down, it is in their words."""
    if complaint.diagnostic.file:
        return complaint.diagnostic.file
    found = _PATH.search(complaint.message) or _PATH.search(evidence.cause.model_snippet)
    return found[1] if found else None


def _is_in(path: str, files: Mapping[str, str]) -> bool:
    """Wherever the project is, and from wherever the tool looks at it."""
    plain = re.sub(r"^(?:\.\.?/)+", "", path)
    return any(plain == each or plain.endswith(f"/{each}") for each in files)


def _added(evidence: Evidence) -> set[str]:
    """What the answer declares and the reference does not."""
    words = {each.aspect for each in evidence.differences if each.expected is None and each.received}
    cause = evidence.cause
    named = set(re.findall(r"\b(\w+)\s*:", cause.model_snippet)) - set(
        re.findall(r"\b(\w+)\s*:", cause.expected_snippet)
    )
    return {str(word) for word in words} | named
