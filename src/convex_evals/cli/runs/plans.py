"""From what was asked for to plans of runs."""

import random
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from convex_evals.cli.output import count, remark
from convex_evals.cli.runs.lookup import LATEST, find_run
from convex_evals.cli.runs.options import Purpose, RunOptions
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import new_id, prefix
from convex_evals.core.settings import Settings
from convex_evals.models import (
    DEFAULT_EXPERIMENT,
    AskOptions,
    Connections,
    Model,
    RecordedModel,
    find_experiment,
    find_model,
)
from convex_evals.runner import (
    CHECK,
    REGRADE,
    VALIDATE,
    Plan,
    Request,
    asking_of,
    last_failures,
    plan_regrading,
    plan_rest,
    plan_run,
    selection_notes,
    suite_of,
)
from convex_evals.schedule import SCHEDULED
from convex_evals.scores import RunPlan, ScoresStore
from convex_evals.suite import Eval, Problem, find_suite, load_suite, select

REPLAY: Final = "replay:"
LABELS: Final[Mapping[Purpose, tuple[str, ...]]] = {
    "run": (),
    "validate": (VALIDATE,),
    "check": (CHECK,),
    "scheduled": (SCHEDULED,),
}


@dataclass(frozen=True, slots=True)
class Prepared:
    """There are no plans when there is nothing to do. `problems` keep selected evals from being loaded."""

    plans: tuple[Plan, ...]
    problems: tuple[Problem, ...] = ()


def prepare(asked: RunOptions, store: ScoresStore, settings: Settings) -> Prepared:
    """Changes nothing. Raises UsageError."""
    asked = with_run_ids(asked, store)
    connections = Connections(settings, remark, estimates=asked.dry_run)
    if asked.resume is not None:
        return _prepare_rest(asked, asked.resume, store, connections)
    request, problems = prepare_request(asked)
    plans = tuple(_plans(asked, request, store, connections))
    if asked.against is not None:
        _check_shared(plans, asked.against, store)
    return Prepared(plans, problems)


def with_run_ids(asked: RunOptions, store: ScoresStore) -> RunOptions:
    """With the id of every run that was named in another way. Raises UsageError."""

    def id_of(reference: str | None) -> str | None:
        return None if reference is None else find_run(store, reference).id

    replayed = [
        f"{REPLAY}{id_of(name.removeprefix(REPLAY))}" if name.startswith(f"{REPLAY}{LATEST}") else name
        for name in asked.models or ()
    ]
    return replace(
        asked,
        models=replayed or asked.models,
        resume=id_of(asked.resume),
        regrade=id_of(asked.regrade),
        against=id_of(asked.against),
    )


def prepare_request(asked: RunOptions) -> tuple[Request, tuple[Problem, ...]]:
    """The chosen evals and how they are asked and graded; and what keeps others from being loaded."""
    asking = asking_for(asked)
    suite = load_suite(find_suite(asked.evals))
    problems = tuple(each for each in suite.problems if asked.selection.takes_problem(suite, each))
    for problem in problems:
        remark(f"broken: {problem}")
    chosen = select(suite, asked.selection)
    evals = chosen if asked.failed else limited(chosen, asked)
    if not evals:
        raise UsageError(f"No eval of {suite.root} can be loaded; `convex-evals list` says what is wrong with them.")
    for each in evals:
        if each.grader is None:
            remark(f"{each.id} has no grader yet, so no test is required of it.")
    options = asked.grading_options().completed(suite.settings)
    return Request(suite, evals, options, asking, notes=selection_notes(asked)), problems


def limited(evals: tuple[Eval, ...], asked: RunOptions) -> tuple[Eval, ...]:
    """The first ones, or a sample that the same seed draws again; in the order of the suite."""
    if asked.sample is not None and asked.sample < len(evals):
        seed = secrets.randbelow(1_000_000) if asked.seed is None else asked.seed
        drawn = set(random.Random(seed).sample([each.id for each in evals], asked.sample))
        evals = tuple(each for each in evals if each.id in drawn)
        if asked.seed is None:
            remark(f"A sample of {count(len(evals), 'eval')}; --seed {seed} draws the same again.")
    return evals[: asked.limit]


def asking_for(asked: RunOptions) -> AskOptions:
    """Raises UsageError."""
    experiment = find_experiment(asked.experiment, guidelines=asked.guidelines)
    experiment.read_guidelines()  # also for models that are not asked: a slip is a slip
    return AskOptions(experiment, asked.base_url, new_id() if asked.no_cache else None)


def _plans(asked: RunOptions, request: Request, store: ScoresStore, connections: Connections) -> Iterator[Plan]:
    if asked.regrade is not None:
        plan = _plan_regrading(asked.regrade, request, store)
        _say_left_out(plan)
        yield plan
        return
    labels = LABELS[asked.purpose]
    request = replace(request, trials=1 if asked.until_sure else asked.trials or 1, labels=labels)
    for name in dict.fromkeys(asked.models or ()):
        globs = request.options.answer_files
        model = find_model(name, store, globs, asking=request.asking, connections=connections)
        its = replace(request, asking=_asking_of(model, request.asking))
        evals = limited(_failed(model.name, its, store), asked) if asked.failed else its.evals
        if evals:
            plan = plan_run(model, replace(its, evals=evals))
            _say_left_out(plan)
            yield plan


def _asking_of(model: Model, asking: AskOptions) -> AskOptions:
    """Recorded answers stay those of the experiment that they were made with. Raises UsageError for another one."""
    made_with = model.experiment if isinstance(model, RecordedModel) else None
    given = asking.experiment.name
    if made_with in (None, given):
        return asking
    if given != DEFAULT_EXPERIMENT:
        made = f"The answers of {model.name} were made with the experiment {made_with}"
        raise UsageError(f"{made}, so they cannot be run with {given}.")
    return replace(asking, experiment=find_experiment(made_with))


def _check_shared(plans: Sequence[Plan], against: str, store: ScoresStore) -> None:
    """Raises UsageError, before anything is asked, when a run cannot be compared with what is planned."""
    run = store.find_run(against)
    known = set(store.planned(run.id))
    for plan in plans:
        if isinstance(plan.run, RunPlan) and not known & set(plan.run.evals):
            raise UsageError(
                f"Run {prefix(run.id)} has no eval in common with what would be run (the same task and grader), "
                f"so --against cannot compare with it."
            )


def _plan_regrading(reference: str, request: Request, store: ScoresStore) -> Plan:
    run = store.find_run(reference)
    again = replace(
        request, asking=asking_of(run), trials=run.trials, labels=tuple(dict.fromkeys((*run.labels, REGRADE)))
    )
    return plan_regrading(run, again, store)


def _prepare_rest(asked: RunOptions, reference: str, store: ScoresStore, connections: Connections) -> Prepared:
    run = store.find_run(reference)
    suite = load_suite(find_suite(asked.evals or suite_of(run)))
    plan = plan_rest(run, suite, store, asked.admin_key, connections)
    if not plan.work:
        remark(f"Every eval of run {prefix(run.id)} has a verdict; nothing to resume.")
    return Prepared((plan,))


def _failed(model: str, request: Request, store: ScoresStore) -> tuple[Eval, ...]:
    """Those of the selected evals that failed when they were last run."""
    experiment = request.asking.experiment.name
    failed = last_failures(store, model, experiment)
    if failed is None:
        raise UsageError(f"--failed needs an earlier run of {model} ({experiment}), and there is none.")
    evals = tuple(each for each in request.evals if each.id in failed)
    if not evals:
        remark(f"None of the selected evals failed when {model} last ran it.")
    return evals


def _say_left_out(plan: Plan) -> None:
    if plan.left_out:
        remark(f"Skipped {count(len(plan.left_out), 'eval')} that {plan.model.name} has no answer to.")
