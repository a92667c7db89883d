"""One user among many, found through an index."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema

USERS = [
    {"name": "Ada", "email": "ada@example.com", "age": 36},
    {"name": "ada@example.com", "email": "alan@example.com", "age": 41},
    {"name": "Ada", "email": "Ada@example.com", "age": 17},
    {"name": "Grace", "email": "grace@example.com", "age": 85},
]


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_returns_the_complete_document_of_the_user(project: Deployment) -> None:
    for user_id, user in zip(project.insert_many("users", USERS), USERS, strict=True):
        found = project.query("index:getUserByEmail", email=user["email"])
        assert_same(found, project.get(user_id), ignore=(), what=f"the user with the email {user['email']}")


def test_returns_null_when_no_user_has_exactly_this_email(project: Deployment) -> None:
    project.insert_many("users", USERS)
    for email in ("nobody@example.com", "", "grace", "GRACE@example.com", " grace@example.com"):
        assert_same(project.query("index:getUserByEmail", email=email), None, what=f"the user with the email {email!r}")


def test_reads_no_user_but_the_one_it_returns(project: Deployment) -> None:
    project.insert_many("users", [{"name": "x", "email": f"{number}@example.com", "age": 1} for number in range(200)])
    with project.trace() as found:
        project.query("index:getUserByEmail", email="137@example.com")
    with project.trace() as missing:
        project.query("index:getUserByEmail", email="nobody@example.com")
    assert found.documents_read <= 1, f"of 200 users it read {found.documents_read} to find one"
    assert missing.documents_read == 0, f"of 200 users it read {missing.documents_read} to find none"


def test_rejects_arguments_that_are_not_one_email(project: Deployment) -> None:
    for arguments in ({}, {"email": 5}, {"email": None}, {"email": "ada@example.com", "age": 36}):
        with project.fails("ArgumentValidationError"):
            project.query("index:getUserByEmail", arguments)
