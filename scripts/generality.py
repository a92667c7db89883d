"""Does the engine `rules` judge by evidence, or by the words of the cases it was made with?

    .venv/bin/python scripts/generality.py LABELS...

Prints for each labelled set which rules decide how many cases of how many evals, what the agreement would be without
each of them, and how many verdicts change when a case is said otherwise (tests/analysis/perturbations.py). A rule that
helps in one eval only, or a verdict that changes for no reason, is made for a case. Agreement is shown by source, too:
by report where the ids of cases begin with the letter of one, otherwise by category.
"""

import asyncio
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from convex_evals.analysis.classification.rules import RULES, RulesEngine, engine
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.scoring import LabelledCase, case_evidence, read_cases
from convex_evals.analysis.surface import Surface, read_surface
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import prepare_toolchain

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.analysis.perturbations import PERTURBATIONS, own_names

Judged = Sequence[tuple[LabelledCase, Evidence]]


async def agreement(judged: Judged) -> list[bool]:
    return [(await RulesEngine().classify(evidence)).failure_class == case.failure_class for case, evidence in judged]


async def show_sources(judged: Judged) -> None:
    found: defaultdict[str, list[bool]] = defaultdict(list)
    for (case, _), agrees in zip(judged, await agreement(judged), strict=True):
        letter = re.match(r"[A-Z](?=\d)", case.id)
        found[letter[0] if letter else case.category].append(agrees)
    print("  by source:", ", ".join(f"{name} {sum(each)}/{len(each)}" for name, each in sorted(found.items())))


async def show_rules(judged: Judged) -> None:
    """What each rule decides, and the agreement without it."""
    before = sum(await agreement(judged))
    deciding = [(case, (await RulesEngine().classify(evidence)).rule) for case, evidence in judged]
    cases, evals = Counter(rule for _, rule in deciding), defaultdict(set)
    for case, rule in deciding:
        evals[rule].add(case.eval)
    print(f"  {'rule':<30} {'cases':>5} {'evals':>5} {'without it':>10}")
    for rule in (*RULES, None):
        name = rule.__name__ if rule else "documented_gap"
        if cases[name]:
            print(f"  {name:<30} {cases[name]:>5} {len(evals[name]):>5} {await _without(rule, judged) - before:>+10}")


async def _without(rule: object, judged: Judged) -> int:
    if rule is None:
        with patch.object(engine, "_documented", lambda *_: None):
            return sum(await agreement(judged))
    with patch.object(engine, "RULES", tuple(each for each in RULES if each is not rule)):
        return sum(await agreement(judged))


async def show_stability(judged: Judged, surface: Surface) -> None:
    names = own_names(case for case, _ in judged)
    for perturb in PERTURBATIONS:
        changed, tried = [], 0
        for case, evidence in judged:
            other = perturb(case, names[case.eval])
            if other == case:
                continue
            tried += 1
            before = (await RulesEngine().classify(evidence)).failure_class
            if (await RulesEngine().classify(case_evidence(other, surface))).failure_class != before:
                changed.append(case.id)
        print(f"  {perturb.__name__:<30} {len(changed):>3} of {tried} verdicts change", *changed)


async def main(paths: list[str]) -> None:
    settings = read_settings()
    toolchain = await prepare_toolchain(settings, print)
    surface = await read_surface(toolchain.packages.package("convex"), toolchain, settings)
    for path in paths:
        judged = [(case, case_evidence(case, surface)) for case in read_cases(Path(path))]
        print(f"{path}: {sum(await agreement(judged))} of {len(judged)}")
        await show_sources(judged)
        await show_rules(judged)
        await show_stability(judged, surface)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
