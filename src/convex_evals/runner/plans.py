"""What a run is going to do: a new one, the rest of an old one, or an old one's answers graded again; its options."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from convex_evals import __version__
from convex_evals.core.browser import why_blind
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.plain import from_plain, to_plain
from convex_evals.core.settings import Settings
from convex_evals.models import (
    AskOptions,
    Connections,
    Model,
    RunReplay,
    StoredAnswers,
    StoredGeneration,
    find_model,
    prompt_fingerprint_of,
)
from convex_evals.pipeline import GradingOptions
from convex_evals.runner.work import ActiveRun, WorkItem
from convex_evals.scores import Fingerprints, PendingEval, PlannedEval, RunPlan, RunRecord
from convex_evals.suite import Entry, Eval, Suite, fingerprint

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

_SECRET = "admin_key"
REGRADE: Final = "regrade"  # label of a run whose answers are those of another run
VALIDATE: Final = "validate"  # label of a run that checks the reference answers
CHECK: Final = "check"  # label of a run that only shows that a model can be asked
ABLATION: Final = "ablation"  # label of a run that is compared with others to see what guidelines are worth
BLIND: Final = "-blind"  # how the toolchain of results is marked that nobody has looked at the pages for
_SUITE: Final = "suite"
_GRADING: Final = "grading"
_REGRADE_OF: Final = "regradeOf"
_ASKING: Final = "asking"
_FILTERED: Final = "filtered"
SELECTION: Final = "selection"


def options_json(options: GradingOptions) -> dict[str, Any]:
    """For the record of the run: everything but the key."""
    plain: dict[str, Any] = to_plain(options)
    return {name: value for name, value in plain.items() if name != _SECRET}


def options_from_json(recorded: Mapping[str, Any], admin_key: str | None) -> GradingOptions:
    plain = {**to_plain(GradingOptions()), **recorded, _SECRET: admin_key}
    return from_plain(GradingOptions, plain)


def pipeline_fingerprint(options: GradingOptions) -> str:
    """Two results with the same one were graded by the same program with the same options."""
    text = json.dumps({"version": __version__, **options_json(options)}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def toolchain_fingerprint(packages: str, settings: Settings) -> str:
    """That of the packages, or another one where graders cannot look at pages: only runs with the same are compared."""
    return f"{packages}{BLIND}" if why_blind(settings) else packages


def as_with_browser(toolchain: str) -> str:
    """The fingerprint of the same tools where pages are looked at: that of results for which it makes no difference."""
    return toolchain.removesuffix(BLIND)


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asked for. `notes` are recorded with the run's options, under names of their own."""

    suite: Suite
    evals: Sequence[Eval]
    options: GradingOptions
    asking: AskOptions = field(default_factory=AskOptions)
    trials: int = 1
    labels: tuple[str, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def numbers(self) -> range:
        """Of the trials."""
        return range(1, self.trials + 1)


@dataclass(frozen=True, slots=True)
class Plan:
    """A run before it begins. `left_out` are selected evals that the model has no answer to."""

    model: Model
    options: GradingOptions
    work: tuple[WorkItem, ...]
    run: RunPlan | RunRecord
    left_out: tuple[str, ...] = ()

    def with_note(self, name: str, value: Any) -> Self:
        """The same plan with something recorded among the run's options; one that is resumed has its record already."""
        if not value or isinstance(self.run, RunRecord):
            return self
        return replace(self, run=replace(self.run, options={**self.run.options, name: value}))

    @property
    def is_over(self) -> bool:
        """Whether it is an earlier run that has nothing left to do, not even to be called completed."""
        return isinstance(self.run, RunRecord) and self.run.status == "completed" and not self.work

    def check_tools(self, toolchain: str) -> None:
        """Raises UsageError when the run was begun with other tools than those that would grade the rest of it."""
        then = self.run.fingerprints.toolchain
        if isinstance(self.run, RunRecord) and self.work and then not in (None, toolchain):
            raise _graded_otherwise("The tools, or whether Chromium is there to look at pages, changed", self.run)

    def begin(self, store: "ScoresStore", toolchain: str | None = None) -> ActiveRun:
        """From here on the run is in the scores, running. One that is resumed must be held.

        `toolchain` is the fingerprint of the tools that will grade.
        """
        if isinstance(self.run, RunPlan):
            run = replace(self.run, fingerprints=replace(self.run.fingerprints, toolchain=toolchain))
            store.create_run(run)
        else:
            store.resume_run(self.run.id)
        return ActiveRun(self.run.id, self.model, self.options, self.work)


def plan_run(model: Model, request: Request) -> Plan:
    """Trial by trial, each in the suite's order."""
    evals = _answered(model, request)
    recorded = _recorded(model, request, evals)
    work = tuple(_item(recorded, each, trial) for trial in request.numbers for each in evals)
    return Plan(model, request.options, work, recorded, _left_out(request, evals))


def plan_regrading(run: RunRecord, request: Request, store: "ScoresStore") -> Plan:
    """The stored answers of a run, graded as a run of its own under the same model and experiment."""
    model = _replay_of(run, store)
    evals = _answered(model, request)
    filtered: dict[str, Any] = {_FILTERED: True} if is_filtered(run) else {}
    if SELECTION not in request.notes and SELECTION in run.options:
        filtered[SELECTION] = run.options[SELECTION]
    recorded = _recorded(model, request, evals, {_REGRADE_OF: run.id, **filtered})
    work = tuple(
        _item(recorded, each, trial, model.stored.place(each.id, trial)) for trial in request.numbers for each in evals
    )
    return Plan(model, request.options, work, recorded, _left_out(request, evals))


def plan_rest(
    run: RunRecord,
    suite: Suite,
    store: "ScoresStore",
    admin_key: str | None = None,
    connections: Connections | None = None,
) -> Plan:
    """Whatever has no verdict yet, as it was planned.

    Raises UsageError when the evals, what grades them, or the prompts of what is still to be asked, are not what they
    were.
    """
    options = options_from_json(run.options[_GRADING], admin_key)
    evals = _unchanged_evals(run, suite, store)
    source = source_of(run)
    replay = _replay_of(store.find_run(source), store) if source is not None else None
    pending = sorted(store.pending(run.id), key=lambda each: each.trial)
    work = tuple(_item(run, evals[each.eval], each.trial, _stored(run, each, replay)) for each in pending)
    if work and run.fingerprints.pipeline not in (None, pipeline_fingerprint(options)):
        raise _graded_otherwise("The version of convex-evals changed", run)
    if replay is None and pending and all(each.stored is not None for each in work):
        replay = _replay_of(run, store)  # nobody has to be asked, so neither key nor guidelines are needed
    model = replay or _model_of(run, store, options, connections)
    return Plan(model, options, work, run)


def suite_of(run: RunRecord) -> Path:
    """The folder of the suite that the run was planned from."""
    return Path(run.options[_SUITE])


def is_filtered(run: RunRecord) -> bool:
    """Whether only some evals of the suite were chosen for it."""
    return bool(run.options.get(_FILTERED))


def asking_of(run: RunRecord) -> AskOptions:
    """How the models of the run were asked."""
    return AskOptions.from_json(run.experiment, run.options.get(_ASKING))


def source_of(run: RunRecord) -> str | None:
    """The run whose answers this one grades again."""
    source = run.options.get(_REGRADE_OF)
    return str(source) if source is not None else None


def _graded_otherwise(what: str, run: RunRecord) -> UsageError:
    """The halves of such a run would not be comparable, and its record would say that they are."""
    this = prefix(run.id)
    return UsageError(
        f"{what} since run {this} began, so it cannot be resumed; start a new one (what the cache has costs nothing), "
        f"or `convex-evals run --regrade {this}` grades the answers that it has."
    )


def _item(run: RunPlan | RunRecord, asked: Eval, trial: int, stored: StoredGeneration | None = None) -> WorkItem:
    return WorkItem(run.id, run.model, run.experiment, asked, trial, stored)


def _answered(model: Model, request: Request) -> list[Eval]:
    evals = [each for each in request.evals if all(model.answers(each, trial) for trial in request.numbers)]
    if not evals:
        raise UsageError(f"{model.name} has no answer to any of the {len(request.evals)} selected evals.")
    return evals


def _model_of(run: RunRecord, store: "ScoresStore", options: GradingOptions, connections: Connections | None) -> Model:
    asking = asking_of(run)
    model = find_model(run.model, store, options.answer_files, asking=asking, connections=connections)
    if run.fingerprints.prompt not in (None, prompt_fingerprint_of(model)):
        guidelines = asking.experiment.guidelines
        what = f"{guidelines} or another part of the prompt" if isinstance(guidelines, Path) else "The prompt"
        raise UsageError(
            f"{what} was changed since run {prefix(run.id)} began, so it cannot be resumed; start a new one."
        )
    return model


def _replay_of(run: RunRecord, store: "ScoresStore") -> RunReplay:
    return RunReplay(StoredAnswers.of_run(store, run), run.model, run.provider)


def _stored(run: RunRecord, pending: PendingEval, replay: RunReplay | None) -> StoredGeneration | None:
    if pending.generated_by is not None:
        return StoredGeneration(run.id, pending.generated_by)
    return replay.stored.place(pending.eval, pending.trial) if replay else None


def _unchanged_evals(run: RunRecord, suite: Suite, store: "ScoresStore") -> dict[str, Eval]:
    evals = {each.id: each for each in suite.evals}
    for planned in store.planned(run.id):
        found = evals.get(planned.eval)
        if found is None or _planned(found) != planned:
            what = "is gone" if found is None else "was changed"
            raise UsageError(
                f"{planned.eval} {what} since run {prefix(run.id)} began, so it cannot be resumed; start a new one."
            )
    return evals


def _recorded(model: Model, request: Request, evals: Sequence[Eval], extra: Mapping[str, Any] | None = None) -> RunPlan:
    return RunPlan(
        model=model.name,
        provider=model.provider,
        experiment=request.asking.experiment.name,
        evals=tuple(_planned(each) for each in evals),
        trials=request.trials,
        fingerprints=_fingerprints(request, evals, model),
        options={
            _SUITE: str(request.suite.root),
            _GRADING: options_json(request.options),
            _ASKING: request.asking.as_json(),
            **({_FILTERED: True} if len(request.evals) < len(request.suite.evals) else {}),
            **request.notes,
            **(extra or {}),
        },
        labels=request.labels,
    )


def _fingerprints(request: Request, evals: Sequence[Eval], model: Model) -> Fingerprints:
    graders = [Entry(each.fingerprints.grader, each.id) for each in evals if each.fingerprints.grader is not None]
    return Fingerprints(
        suite=request.suite.fingerprint,
        content=fingerprint(Entry(each.fingerprints.content, each.id) for each in evals),
        grader=fingerprint(graders),
        pipeline=pipeline_fingerprint(request.options),
        prompt=prompt_fingerprint_of(model),
    )


def _planned(each: Eval) -> PlannedEval:
    return PlannedEval(each.id, each.fingerprints.content, each.fingerprints.grader)


def _left_out(request: Request, evals: Sequence[Eval]) -> tuple[str, ...]:
    chosen = {each.id for each in evals}
    return tuple(each.id for each in request.evals if each.id not in chosen)
