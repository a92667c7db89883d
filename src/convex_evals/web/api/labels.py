"""What people say about failures."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from convex_evals.core.verdicts import FailureClass
from convex_evals.scores import LabelRecord, ScoresStore
from convex_evals.web.api.answers import BODY_REFUSALS, REFUSALS, Limit, Name, Page, Position, Served, answer, page_of
from convex_evals.web.errors import RequestRefused
from convex_evals.web.identity import Labeller

labels = APIRouter(tags=["labels"], responses=REFUSALS)


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
