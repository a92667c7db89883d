"""A counter that lives in a component."""

from convex_evals.pipeline.grading.kit import Deployment


def test_hits_are_counted(project: Deployment) -> None:
    before = project.query("index:hits")
    project.mutation("index:hit")
    project.mutation("index:hit")
    assert project.query("index:hits") == before + 2
