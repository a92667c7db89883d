"""The runs of an ablation: planned together, found again by the id that all of them carry."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from convex_evals.cli.output import remark
from convex_evals.cli.runs.options import RunOptions
from convex_evals.cli.runs.plans import Prepared, prepare_request
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import PREFIX_LENGTH, new_id, prefix
from convex_evals.core.settings import Settings
from convex_evals.models import Connections, ProviderModel, Variant, VariantKind, find_model, plan_variants
from convex_evals.runner import ABLATION, Plan, plan_rest, plan_run, suite_of
from convex_evals.scores import RunRecord, ScoresStore
from convex_evals.suite import find_suite, load_suite

_NOTE = "ablation"


@dataclass(frozen=True, slots=True)
class AblatedRun:
    """A run, and what was left out of its guidelines. `tokens` is roughly how long that is."""

    run: RunRecord
    ablation: str
    kind: VariantKind
    section: str | None
    tokens: int

    @classmethod
    def of(cls, run: RunRecord) -> Self | None:
        note = run.options.get(_NOTE)
        if note is None:
            return None
        return cls(run, note["id"], cast(VariantKind, note["kind"]), note["section"], int(note["tokens"]))


def plan_ablation(asked: RunOptions, sections: Sequence[str], store: ScoresStore, settings: Settings) -> Prepared:
    """A run with all sections, one without each, one without any. Raises UsageError."""
    [name] = asked.models or []
    request, problems = prepare_request(asked)
    connections, identifier = Connections(settings, remark), new_id()
    plans: list[Plan] = []
    for variant in plan_variants(request.asking.experiment, sections):
        asking = replace(request.asking, experiment=variant.experiment)
        model = find_model(name, store, request.options.answer_files, asking=asking, connections=connections)
        if not isinstance(model, ProviderModel):
            raise UsageError(f"{model.name} is not asked by a prompt, so leaving out guidelines would change nothing.")
        labelled = replace(
            request,
            asking=asking,
            trials=asked.trials or 1,
            labels=(ABLATION,),
            notes={_NOTE: _note(identifier, variant)},
        )
        plans.append(plan_run(model, labelled))
    return Prepared(tuple(plans), problems)


def plan_rest_of(runs: Sequence[AblatedRun], store: ScoresStore, settings: Settings) -> Prepared:
    """Whatever has no verdict yet."""
    connections = Connections(settings, remark)
    plans = []
    for each in runs:
        plan = plan_rest(each.run, load_suite(find_suite(suite_of(each.run))), store, None, connections)
        if plan.work:
            plans.append(plan)
    return Prepared(tuple(plans))


def find_ablation(store: ScoresStore, reference: str) -> tuple[AblatedRun, ...]:
    """By the beginning of its id, or of the id of one of its runs. Raises UsageError."""
    known = [each for run in store.runs() if (each := AblatedRun.of(run)) is not None]
    wanted = {
        each.ablation for each in known if each.ablation.startswith(reference) or each.run.id.startswith(reference)
    }
    if len(reference) < 4 or len(wanted) != 1:
        some = ", ".join(dict.fromkeys(prefix(each.ablation) for each in known)) or "none yet"
        raise UsageError(
            f"{reference!r} must be the id of an ablation, or its first {PREFIX_LENGTH} characters; there are: {some}."
        )
    return runs_of(store, wanted.pop())


def runs_of(store: ScoresStore, ablation: str) -> tuple[AblatedRun, ...]:
    """In the order in which they were planned."""
    found = [each for run in store.runs() if (each := AblatedRun.of(run)) is not None and each.ablation == ablation]
    return tuple(reversed(found))


def _note(identifier: str, variant: Variant) -> dict[str, Any]:
    return {"id": identifier, "kind": variant.kind, "section": variant.section, "tokens": variant.tokens}
