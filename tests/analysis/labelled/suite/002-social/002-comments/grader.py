"""Comments, and those that nobody sees."""

from convex_evals.pipeline.grading.kit import Deployment, same_function_spec


def seed(project: Deployment) -> None:
    ids = [project.mutation("index:addComment", post="a", body=body) for body in ("first", "second", "third")]
    project.mutation("index:addComment", post="b", body="other")
    project.mutation("index:hideComment", id=ids[1])


def test_hidden_comments_are_not_listed(project: Deployment) -> None:
    seed(project)
    assert project.query("index:listComments", post="a") == ["first", "third"]


def test_the_comments_of_a_post_are_counted(project: Deployment) -> None:
    seed(project)
    assert project.query("index:countComments", post="a") == 2


def test_there_are_no_other_functions(project: Deployment, answer: Deployment) -> None:
    same_function_spec(project, answer, exact=True)
