"""Players and their points."""

from convex_evals.pipeline.grading.kit import Deployment, Sources


def seed(project: Deployment, **points: int) -> None:
    project.insert_many("scores", [{"player": player, "points": value} for player, value in points.items()])


def test_the_best_come_first(project: Deployment) -> None:
    seed(project, ada=30, alan=10, grace=20)
    assert project.query("index:best", count=2) == ["ada", "grace"]


def test_the_rank_of_a_player(project: Deployment) -> None:
    seed(project, ada=30, alan=10, grace=20)
    assert project.query("index:getRank", player="grace") == 2
    assert project.query("index:getRank", player="kurt") is None


def test_equal_points_have_the_same_rank(project: Deployment) -> None:
    seed(project, ada=30, alan=20, grace=20, kurt=10)
    ranks = [project.query("index:getRank", player=player) for player in ("ada", "alan", "grace", "kurt")]
    assert ranks == [1, 2, 2, 4]


def test_the_average_of_all_points(project: Deployment) -> None:
    assert project.query("index:getAverage") is None
    seed(project, ada=30, alan=10, grace=21)
    assert project.query("index:getAverage") == 20.3


def test_the_database_sorts(files: Sources) -> None:
    assert '.order("desc")' in files.text("convex/index.ts")
