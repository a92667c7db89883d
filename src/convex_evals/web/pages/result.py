"""One eval of one run: why it failed, the answer against the reference, and everything that was kept of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Form, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from convex_evals.analysis.report import FailureReport, newest_report
from convex_evals.core.ids import LENGTH, prefix
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import CLASSES, FailureClass, StepName
from convex_evals.models import UNASKED, cut_off
from convex_evals.runner import repeat_command
from convex_evals.scores import AttemptDetails, GenerationRecord, LabelRecord, PlannedEval, RunRecord
from convex_evals.web.errors import NotFound
from convex_evals.web.identity import Labeller, visitor_of
from convex_evals.web.pages.addresses import category_address, result_address, run_address, with_query
from convex_evals.web.pages.errors import Moved
from convex_evals.web.pages.evidence import Kept, find_reference, kept_text, read_model_answer
from convex_evals.web.pages.frame import Crumb, Twin, download, page, show
from convex_evals.web.pages.search import find_run, named
from convex_evals.web.site import Site, site_of

router = APIRouter()
RESULT: Final = "/experiment/{experiment}/run/{run}/{category}/{eval}"
TABS: Final = ("steps", "diff", "files", "why", "task", "prompt", "response", "attempts")
LONGEST_NOTE: Final = 4_000


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Addresses of the failures before and after this result, and where it stands among them."""

    previous: str | None
    next: str | None
    number: int | None
    total: int


@dataclass(frozen=True, slots=True)
class StepView:
    result: StepResult
    log: Kept | None


@dataclass(frozen=True, slots=True)
class Found:
    """What the address names: `chosen` is the attempt that counts, `attempts` are all of this trial."""

    run: RunRecord
    planned: PlannedEval
    trial: int
    trials: tuple[int, ...]
    attempts: tuple[AttemptDetails, ...]

    @property
    def chosen(self) -> AttemptDetails | None:
        counting = [each for each in self.attempts if each.attempt.status != "interrupted"]
        return counting[-1] if counting else self.attempts[-1] if self.attempts else None


@page(router, RESULT)
def result(
    request: Request,
    experiment: str,
    run: str,
    category: str,
    eval: str,
    site: Annotated[Site, Depends(site_of)],
    trial: Annotated[int, Query(ge=1)] = 1,
    tab: Annotated[str, Query()] = TABS[0],
    file: Annotated[str, Query()] = "",
    diff: Annotated[str, Query()] = "side",
) -> Response:
    found = find_result(site, experiment, run, f"{category}/{eval}", trial)
    reference = find_reference(site.suite, found.planned)
    chosen = found.chosen
    generation = chosen.generation if chosen else None
    return show(
        request,
        "result.html",
        title=f"{category}/{eval} · {found.run.model}",
        crumbs=_crumbs(found, category, eval),
        twin=_twin(found),
        run=found.run,
        eval=found.planned.eval,
        trial=trial,
        trials=found.trials,
        chosen=chosen,
        earlier=[each for each in found.attempts if each is not chosen],
        steps=_steps(site, chosen),
        answer=read_model_answer(site.store, generation.files if generation else None, reference),
        cut_off=_cut_off(generation),
        reference=reference,
        has_suite=site.suite is not None,
        prompt=kept_text(site.store, generation.prompt) if generation else None,
        response=kept_text(site.store, generation.response) if generation else None,
        unasked=found.run.fingerprints.prompt is None and found.run.provider in UNASKED,
        neighbours=_neighbours(site, found),
        alike=site.store.failures_alike(chosen.attempt.id) if chosen and chosen.attempt.failed_step else None,
        failure=_failure(site, found),
        labels=[each for each in site.store.labels.of_run(found.run.id) if (each.eval, each.trial) == _place(found)],
        may_label=visitor_of(request).may("label"),
        classes=CLASSES,
        tab=tab if tab in TABS else TABS[0],
        file=file,
        inline=diff == "inline",
        repeat=repeat_command(found.run, (), only=found.planned.eval),
        command=_show_command(found),
    )


@router.post(f"{RESULT}/labels", response_model=None)
def label(
    experiment: str,
    run: str,
    category: str,
    eval: str,
    visitor: Labeller,
    site: Annotated[Site, Depends(site_of)],
    failure_class: Annotated[FailureClass, Form(alias="class")],
    note: Annotated[str, Form(max_length=LONGEST_NOTE)] = "",
    who: Annotated[str, Form(max_length=100)] = "",
    trial: Annotated[int, Form(ge=1)] = 1,
) -> Response:
    """On a desk people say who they are; elsewhere the token does."""
    found = find_result(site, experiment, run, f"{category}/{eval}", trial)
    name = visitor.grant.name if visitor.grant else who.strip() or visitor.name
    said = LabelRecord(found.run.id, found.planned.eval, trial, failure_class, note.strip(), name, datetime.now(UTC))
    site.store.labels.add(said)
    return RedirectResponse(_address(found, tab="why"), 303)


@page(router, "/artifact/{artifact}/{name:path}", twins=False)
def artifact(artifact: str, name: str, site: Annotated[Site, Depends(site_of)]) -> Response:
    """A prompt, response, log or file, complete and as it was recorded. `file/PATH` is one file of an answer."""
    if name.startswith("file/"):
        path = name.removeprefix("file/")
        files = site.store.read_files(artifact)
        if path not in files:
            raise NotFound(f"This answer has no file {path!r}.")
        return download(files[path].encode(errors="surrogatepass"), path.rpartition("/")[2])
    return download(site.store.read_bytes(artifact), name)


def find_result(site: Site, experiment: str, run: str, eval: str, trial: int) -> Found:
    if len(run) < LENGTH:
        raise Moved(find_run(site, run, f"/{eval}"))
    record = site.store.find_run(run)
    if record.experiment != experiment:
        raise Moved(result_address(record.experiment, run, eval))
    plan = {each.eval: each for each in site.store.planned(run)}
    planned = plan.get(eval)
    if planned is None:
        if name := named(eval, plan):
            raise Moved(result_address(experiment, run, name))
        raise NotFound(f"Run {prefix(run)} has no eval {eval!r}.")
    details = site.store.details(run, eval)
    trials = sorted({*range(1, record.trials + 1), *(each.attempt.trial for each in details)})
    if trial not in trials:
        raise NotFound(f"Run {prefix(run)} has no trial {trial} of {eval}.")
    return Found(record, planned, trial, tuple(trials), tuple(each for each in details if each.attempt.trial == trial))


def _crumbs(found: Found, category: str, eval: str) -> tuple[Crumb, ...]:
    run = found.run
    inside = (
        Crumb(f"{run.model} · {prefix(run.id)}", run_address(run.experiment, run.id)),
        Crumb(category, category_address(run.experiment, run.id, category)),
    )
    last = Crumb(f"{eval}, trial {found.trial}" if len(found.trials) > 1 else eval)
    return (Crumb("home", "/"), Crumb("runs", "/runs"), *inside, last)


def _steps(site: Site, chosen: AttemptDetails | None) -> list[StepView]:
    if chosen is None:
        return []
    logs: Mapping[StepName, str] = chosen.logs
    return [
        StepView(step, kept_text(site.store, logs[step.name]) if step.name in logs else None) for step in chosen.steps
    ]


def _neighbours(site: Site, found: Found) -> Neighbours:
    """Failures of the run by eval and trial; `[` and `]` go through them."""
    results = site.store.history.results([found.run.id])[found.run.id]
    failed = sorted((each.eval, each.trial) for each in results if each.status == "failed")
    here = _place(found)
    before, after = [each for each in failed if each < here], [each for each in failed if each > here]
    number = len(before) + 1 if here in failed else None
    return Neighbours(_neighbour(found, before[-1:]), _neighbour(found, after[:1]), number, len(failed))


def _neighbour(found: Found, places: Sequence[tuple[str, int]]) -> str | None:
    return next((result_address(found.run.experiment, found.run.id, *place) for place in places), None)


def _cut_off(generation: GenerationRecord | None) -> str:
    """How an answer ended that is not the whole one."""
    if generation is None or not generation.truncated:
        return ""
    return cut_off(generation.usage.finish_reason if generation.usage else None)


def _failure(site: Site, found: Found) -> FailureReport | None:
    """What the newest report says about this failure."""
    kept = newest_report(site.reports, found.run.provider, found.run.model, found.run.id)
    failures = kept.report.failures if kept else ()
    return next((each for each in failures if (each.eval, each.trial) == _place(found)), None)


def _place(found: Found) -> tuple[str, int]:
    return found.planned.eval, found.trial


def _address(found: Found, **query: object) -> str:
    address = result_address(found.run.experiment, found.run.id, found.planned.eval)
    return with_query(address, trial=found.trial if found.trial > 1 else None, **query)


def _show_command(found: Found) -> str:
    trial = f" --trial {found.trial}" if found.trial > 1 else ""
    return f"convex-evals show {prefix(found.run.id)} {found.planned.eval}{trial}"


def _twin(found: Found) -> Twin:
    columns = ("attempt", "step", "status", "failure", "durationMs", "cpuMs", "diagnostics")
    rows = (
        (
            *(each.attempt.number, step.name, step.status, step.failure, step.duration_ms, step.cpu_ms),
            "; ".join(f"{one.name or ''} {one.place} {one.message}".strip() for one in step.diagnostics),
        )
        for each in found.attempts
        for step in each.steps
    )
    status = found.chosen.attempt.status if found.chosen else "pending"
    return Twin("steps", columns, rows, {"run": found.run.id, "eval": found.planned.eval, "status": status})
