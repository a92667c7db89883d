"""What happens while it happens."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse

from convex_evals.web.api.answers import REFUSALS, Served
from convex_evals.web.events import Broadcast

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
    """Server-sent events named `change`, with `kind` and `run` as JSON; of one run, or of all."""
    broadcast: Broadcast = request.app.state.broadcast
    chosen = site.store.find_run(run).id if run else None
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(broadcast.stream(chosen), headers=headers, media_type="text/event-stream")
