"""The suite of this server: what is asked, how it is graded, and whole evals for those who do not have them."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from convex_evals.scores import PlannedEval
from convex_evals.suite import Eval, pack_eval, read_texts
from convex_evals.web.api.answers import REFUSALS, Limit, Page, Position, Served, answer, page_of
from convex_evals.web.errors import NotFound
from convex_evals.web.site import Site

evals = APIRouter(tags=["evals"], responses=REFUSALS)
Part = Annotated[str, Path(max_length=200)]


@dataclass(frozen=True, slots=True)
class EvalSummary:
    """`content` and `grader` are fingerprints."""

    name: str
    content: str
    grader: str | None
    pipeline: str


@dataclass(frozen=True, slots=True)
class EvalContent:
    """A task with its reference answer, its grader and the gaps that are known of it."""

    name: str
    content: str
    grader: str | None
    pipeline: str
    task: str
    reference: dict[str, str]
    grader_files: dict[str, str]
    gaps: str | None


@evals.get("/evals", response_model=Page[EvalSummary], summary="List the evals of this server's suite")
def list_evals(site: Served, limit: Limit = 500, cursor: Position = 0) -> Response:
    found = site.suite.evals if site.suite else ()
    return answer(page_of([_summary(each) for each in found], limit, cursor))


@evals.get("/evals/{category}/{name}", response_model=EvalContent, summary="Show one eval")
def show_eval(site: Served, category: Part, name: Part) -> Response:
    return answer(content_of(find_eval(site, f"{category}/{name}")))


@evals.get(
    "/evals/{category}/{name}/folder",
    response_class=Response,
    responses={200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}},
    summary="Download an eval",
)
def send_folder(site: Served, category: Part, name: Part) -> Response:
    """A zip file of a suite that has this eval only, in `evals/`, with the graders that the suite shares."""
    found = find_eval(site, f"{category}/{name}")
    return Response(pack_eval(found), media_type="application/zip")


def find_eval(site: Site, name: str) -> Eval:
    found = next((each for each in (site.suite.evals if site.suite else ()) if each.id == name), None)
    if found is None:
        raise NotFound(f"This server's suite has no eval {name!r}.")
    return found


def same_eval(site: Site, planned: PlannedEval) -> EvalContent | None:
    """As it was when it was planned, or not at all."""
    evals = site.suite.evals if site.suite else ()
    found = next((each for each in evals if each.id == planned.eval), None)
    prints = found.fingerprints if found else None
    same = prints is not None and (prints.content, prints.grader) == (planned.content, planned.grader)
    return content_of(found) if found is not None and same else None


def content_of(found: Eval) -> EvalContent:
    summary = _summary(found)
    return EvalContent(
        name=summary.name,
        content=summary.content,
        grader=summary.grader,
        pipeline=summary.pipeline,
        task=found.task,
        reference=read_texts(found.path / "answer"),
        grader_files=_grader_files(found),
        gaps=found.gaps,
    )


def _summary(found: Eval) -> EvalSummary:
    prints = found.fingerprints
    return EvalSummary(found.id, prints.content, prints.grader, found.pipeline.value)


def _grader_files(found: Eval) -> dict[str, str]:
    path = found.grader.path if found.grader else None
    return {} if path is None else {path.name: path.read_text(encoding="utf-8", errors="replace")}
