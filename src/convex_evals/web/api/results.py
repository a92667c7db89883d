"""One result with everything about it, the artifacts that it names, and what people say about failures."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.responses import Response

from convex_evals.core.verdicts import FailureClass
from convex_evals.scores import (
    AttemptDetails,
    FailuresAlike,
    GenerationRecord,
    LabelRecord,
    PlannedEval,
    RunRecord,
    ScoresStore,
)
from convex_evals.web.api.answers import BODY_REFUSALS, REFUSALS, Limit, Name, Page, Position, Served, answer, page_of
from convex_evals.web.api.evals import EvalContent, same_eval
from convex_evals.web.errors import RequestRefused
from convex_evals.web.headers import PRIVATE_FOREVER
from convex_evals.web.identity import Labeller
from convex_evals.web.site import Site

results = APIRouter(tags=["results"], responses=REFUSALS)
Id = Annotated[str, Path(max_length=64, description="The id of an attempt.")]
Sha256 = Annotated[str, Path(pattern="^[0-9a-f]{64}$", description="The SHA-256 of its content.")]
labels = APIRouter(tags=["labels"], responses=REFUSALS)


@dataclass(frozen=True, slots=True)
class Result:
    """Everything about one attempt. `eval` is what was asked, if this server's suite still has it as it was then.

    `files` are those that the model wrote. The labels are what people said about it, the latest last.
    """

    run: RunRecord
    planned: PlannedEval
    details: AttemptDetails
    files: dict[str, str]
    alike: FailuresAlike
    labels: tuple[LabelRecord, ...]
    eval: EvalContent | None


@results.get("/results/{id}", response_model=Result, summary="Show everything about one result")
def show_result(site: Served, id: Id) -> Response:
    """Steps, diagnostics, tests, files, usage, who else failed alike, labels, and the task, reference and grader."""
    found = site.store.find_attempt(id)
    run_id, name, trial = found.attempt.run_id, found.attempt.eval, found.attempt.trial
    planned = next(each for each in site.store.planned(run_id) if each.eval == name)
    labels = (each for each in site.store.labels.of_run(run_id) if (each.eval, each.trial) == (name, trial))
    return answer(
        Result(
            run=site.store.find_run(run_id),
            planned=planned,
            details=found,
            files=_files(site, found.generation),
            alike=site.store.failures_alike(found.attempt.id),
            labels=tuple(labels),
            eval=same_eval(site, planned),
        )
    )


@results.get("/results/{id}/alike", response_model=FailuresAlike, summary="Count who else failed like this")
def count_alike(site: Served, id: Id) -> Response:
    return answer(site.store.failures_alike(site.store.find_attempt(id).attempt.id))


def _files(site: Site, generation: GenerationRecord | None) -> dict[str, str]:
    """A model may write half of a character, which JSON cannot hold; the artifact has it."""
    files = site.store.read_files(generation.files) if generation else {}
    return {_whole(path): _whole(text) for path, text in files.items()}


def _whole(text: str) -> str:
    return text.encode(errors="replace").decode()


@results.get(
    "/artifacts/{sha256}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}},
    summary="Download an artifact",
)
def send_artifact(site: Served, sha256: Sha256) -> Response:
    """A prompt, a response, the files of an answer as JSON, or a log: bytes as they were recorded, never shown."""
    content = site.store.read_bytes(sha256)
    headers = {
        "content-disposition": f'attachment; filename="{sha256[:12]}"',
        "cache-control": PRIVATE_FOREVER,
        "etag": f'W/"{sha256}"',
    }
    return Response(content, headers=headers, media_type="application/octet-stream")


@dataclass(frozen=True, slots=True)
class NewLabel:
    """About one failure of a run. The latest label about it counts."""

    run: Annotated[str, Field(max_length=64, description="The id of the run, or its first characters.")]
    eval: Annotated[str, Field(max_length=200)]
    failure_class: FailureClass
    note: Annotated[str, Field(max_length=10_000)] = ""
    trial: Annotated[int, Field(ge=1, le=10_000)] = 1


@labels.get("/labels", response_model=Page[LabelRecord], summary="List labels, the oldest first")
def list_labels(
    site: Served,
    run: Annotated[str | None, Query(max_length=64)] = None,
    model: Name = None,
    provider: Name = None,
    limit: Limit = 500,
    cursor: Position = 0,
) -> Response:
    """Of a run, of a model (named with its provider), or all of them."""
    return answer(page_of(_labels(site.store, run, model, provider), limit, cursor))


def _labels(store: ScoresStore, run: str | None, model: str | None, provider: str | None) -> tuple[LabelRecord, ...]:
    if run is not None:
        return store.labels.of_run(store.find_run(run).id)
    if model is not None and provider is not None:
        return store.labels.of_model(model, provider)
    if model is not None or provider is not None:
        raise RequestRefused(422, "InvalidRequest", "Expected `model` and `provider`, but one of them is missing.")
    return store.labels.of_every_run()


@labels.post("/labels", response_model=LabelRecord, status_code=201, responses=BODY_REFUSALS, summary="Label a failure")
def add_label(visitor: Labeller, given: NewLabel) -> Response:
    """Needs the right to label. Nothing is replaced: earlier labels stay."""
    store = visitor.site.store
    run = store.find_run(given.run)
    label = LabelRecord(
        run.id, given.eval, given.trial, given.failure_class, given.note, visitor.name, datetime.now(UTC)
    )
    store.labels.add(label)
    return answer(label, 201)
