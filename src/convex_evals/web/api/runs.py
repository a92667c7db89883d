"""Runs: the list of them, everything that was recorded of one, and events while they happen."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from convex_evals.scores import (
    AttemptDetails,
    AttemptRecord,
    CostSource,
    GenerationRecord,
    PendingEval,
    PlannedEval,
    RunFilter,
    RunRecord,
    RunStatus,
)
from convex_evals.web.api.answers import REFUSALS, Cursor, Limit, Name, Page, Position, RunName, Served, answer, page_of
from convex_evals.web.events import Broadcast

runs = APIRouter(tags=["runs"], responses=REFUSALS)
EvalName = Annotated[str | None, Query(max_length=200, description="Only of this eval, category/name.")]


@dataclass(frozen=True, slots=True)
class AnswerTaken:
    """What asking a model for one answer took, usable or not. Null is "not said"."""

    eval: str
    cost_usd: float | None
    first_token_ms: float | None
    generation_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    cost_source: CostSource
    usable: bool
    recorded_at: datetime | None


@runs.get("/runs", response_model=Page[RunRecord], summary="List runs, the newest first")
def list_runs(
    site: Served,
    model: Name = None,
    provider: Name = None,
    experiment: Name = None,
    status: Annotated[RunStatus | None, Query()] = None,
    since: Annotated[datetime | None, Query()] = None,
    hidden: Annotated[bool, Query(description="Whether hidden runs are listed, too.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    last = site.store.find_run(cursor) if cursor else None
    found = site.store.runs(RunFilter(model, provider, experiment, status, since, last, limit + 1, hidden))
    return answer(Page(found[:limit], found[limit - 1].id if len(found) > limit else None))


@runs.get("/runs/{run}", response_model=RunRecord, summary="Show one run")
def show_run(site: Served, run: RunName) -> Response:
    return answer(site.store.find_run(run))


@runs.get("/runs/{run}/held", response_model=bool, summary="Say whether a process works on a run")
def show_held(site: Served, run: RunName) -> Response:
    """A running run that nobody holds was interrupted."""
    return answer(site.store.is_run_held(site.store.find_run(run).id))


@runs.get("/runs/{run}/planned", response_model=Page[PlannedEval], summary="List the evals that a run plans")
def list_planned(site: Served, run: RunName, limit: Limit = 500, cursor: Position = 0) -> Response:
    return answer(page_of(site.store.planned(site.store.find_run(run).id), limit, cursor))


@runs.get("/runs/{run}/pending", response_model=Page[PendingEval], summary="List what has no verdict yet")
def list_pending(site: Served, run: RunName, limit: Limit = 500, cursor: Position = 0) -> Response:
    return answer(page_of(site.store.pending(site.store.find_run(run).id), limit, cursor))


@runs.get("/runs/{run}/results", response_model=Page[AttemptRecord], summary="List the results of a run")
def list_results(site: Served, run: RunName, limit: Limit = 500, cursor: Position = 0) -> Response:
    """Of each eval and trial the latest attempt that has a result, by eval and trial."""
    return answer(page_of(site.store.results(site.store.find_run(run).id), limit, cursor))


@runs.get("/runs/{run}/failures", response_model=Page[AttemptDetails], summary="List what failed in a run")
def list_failures(site: Served, run: RunName, limit: Limit = 100, cursor: Position = 0) -> Response:
    """Results with their steps and diagnostics."""
    run_id = site.store.find_run(run).id
    return answer(page_of(site.store.result_details(run_id, statuses=("failed",)), limit, cursor))


@runs.get("/runs/{run}/attempts", response_model=Page[AttemptDetails], summary="List every attempt of a run")
def list_attempts(
    site: Served, run: RunName, eval: EvalName = None, limit: Limit = 100, cursor: Position = 0
) -> Response:
    """With generations and steps, by eval, trial and number."""
    return answer(page_of(site.store.details(site.store.find_run(run).id, eval), limit, cursor))


@runs.get("/runs/{run}/generations", response_model=Page[GenerationRecord], summary="List what a model was asked")
def list_generations(site: Served, run: RunName, limit: Limit = 500, cursor: Position = 0) -> Response:
    """With what that used. Prompts, responses and files are artifacts."""
    return answer(page_of(site.store.generations(site.store.find_run(run).id), limit, cursor))


@runs.get("/runs/{run}/answers", response_model=Page[AnswerTaken], summary="List what answers took")
def list_answers(site: Served, run: RunName, limit: Limit = 500, cursor: Position = 0) -> Response:
    """Only what a model was really asked: nothing from a cache, and nothing that was only graded again."""
    run_id = site.store.find_run(run).id
    found = [AnswerTaken(*each) for each in site.store.history.answers([run_id])[run_id]]
    return answer(page_of(found, limit, cursor))


events = APIRouter(tags=["events"], responses=REFUSALS)


@events.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    summary="Listen to what happens",
)
def listen(
    site: Served, request: Request, run: Annotated[str | None, Query(max_length=64)] = None
) -> StreamingResponse:
    """Server-sent events named `change`, with `kind` and `run` as JSON; of one run, or of all.

    Whatever happens after the first event, `ready`, is told."""
    broadcast: Broadcast = request.app.state.broadcast
    chosen = site.store.find_run(run).id if run else None
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(broadcast.stream(chosen), headers=headers, media_type="text/event-stream")
