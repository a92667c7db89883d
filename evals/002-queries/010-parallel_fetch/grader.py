"""Profiles of several users, read at the same time."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema


def insert_user(project: Deployment, name: str, posts: list[str], followers: int) -> str:
    user = project.insert("users", name=name)
    project.insert_many("posts", [{"userId": user, "title": title} for title in posts])
    project.insert_many("followers", [{"userId": user, "name": f"follower {i}"} for i in range(followers)])
    return user


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_returns_the_profiles_in_the_order_of_the_ids(project: Deployment) -> None:
    ada = insert_user(project, "Ada", ["z", "a", "m"], 2)
    alan = insert_user(project, "Alan", ["hello"], 40)
    grace = insert_user(project, "Grace", [], 0)
    expected = {
        grace: {"name": "Grace", "latestPost": None, "followerCount": 0},
        ada: {"name": "Ada", "latestPost": "m", "followerCount": 2},
        alan: {"name": "Alan", "latestPost": "hello", "followerCount": 40},
    }
    for ids in ([grace, ada, alan], [alan, grace, ada], [ada, ada], [alan], []):
        assert_same(project.query("index:getProfiles", userIds=ids), [expected[user] for user in ids])


def test_a_user_who_is_gone_is_null(project: Deployment) -> None:
    ada = insert_user(project, "Ada", ["a"], 1)
    alan = insert_user(project, "Alan", ["b"], 2)
    project.delete("users", ada)
    found = project.query("index:getProfiles", userIds=[ada, alan, ada])
    assert_same(found, [None, {"name": "Alan", "latestPost": "b", "followerCount": 2}, None])


def test_does_not_wait_once_per_user(project: Deployment) -> None:
    users = [insert_user(project, f"user {number}", ["a", "b"], 3) for number in range(12)]
    with project.trace() as work:
        project.query("index:getProfiles", userIds=users)
    assert work.round_trips < len(users), f"for {len(users)} users it waited {work.round_trips} times for the database"


def test_reads_one_post_per_user(project: Deployment) -> None:
    users = [insert_user(project, f"user {number}", [f"post {i}" for i in range(50)], 2) for number in range(2)]
    with project.trace() as work:
        project.query("index:getProfiles", userIds=users)
    needed = len(users) * (1 + 1 + 2)
    assert work.documents_read <= needed, f"it needed {needed} documents, and read {work.documents_read}"


def test_rejects_arguments_that_are_not_ids_of_users(project: Deployment) -> None:
    insert_user(project, "Ada", ["a"], 0)
    post = project.documents("posts")[0]["_id"]
    for arguments in ({}, {"userIds": "Ada"}, {"userIds": ["Ada"]}, {"userIds": [post]}):
        with project.fails("ArgumentValidationError"):
            project.query("index:getProfiles", arguments)
