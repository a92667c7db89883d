"""Who follows whom."""

from convex_evals.pipeline.grading.kit import Deployment


def test_followers_are_listed_by_name(project: Deployment) -> None:
    for follower, followed in (("grace", "ada"), ("alan", "ada"), ("ada", "grace")):
        project.mutation("index:follow", follower=follower, followed=followed)
    assert project.query("index:followersOf", person="ada") == ["alan", "grace"]


def test_who_follows_twice_is_listed_once(project: Deployment) -> None:
    for _ in range(2):
        project.mutation("index:follow", follower="alan", followed="ada")
    assert project.query("index:followersOf", person="ada") == ["alan"]


def test_nobody_follows_themselves(project: Deployment) -> None:
    with project.fails("Nobody can follow themselves."):
        project.mutation("index:follow", follower="ada", followed="ada")
