"""Products by a part of their names."""

from convex_evals.pipeline.grading.kit import Deployment, Sources


def seed(project: Deployment) -> None:
    project.insert_many("products", [{"name": name} for name in ("red pen", "Pencil", "ink", "fountain pen")])


def test_a_text_in_the_middle_is_found(project: Deployment) -> None:
    seed(project)
    assert project.query("index:findProducts", text="nta") == ["fountain pen"]


def test_all_products_with_the_text_are_found(project: Deployment) -> None:
    seed(project)
    assert project.query("index:findProducts", text="pen") == ["Pencil", "fountain pen", "red pen"]


def test_includes_is_used(files: Sources) -> None:
    assert ".includes(" in files.text("convex/index.ts")
