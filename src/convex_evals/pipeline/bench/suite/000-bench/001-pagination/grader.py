"""Pages by rank."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment


def test_pages_follow_each_other_by_rank(project: Deployment) -> None:
    project.mutation("index:add", {"ranks": [5, 3, 1, 4, 2]})
    seen: list[float] = []
    cursor: Any = None
    for _ in range(3):
        page = project.query("index:page", {"paginationOpts": {"numItems": 2, "cursor": cursor}})
        seen += [item["rank"] for item in page["page"]]
        cursor = page["continueCursor"]
    assert seen == [1, 2, 3, 4, 5]
