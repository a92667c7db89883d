"""An address book."""

from convex_evals.pipeline.grading.kit import Deployment, Sources


def test_contacts_are_listed_as_they_were_added(project: Deployment) -> None:
    project.mutation("index:saveContact", name="Ada", email="ada@example.com")
    project.mutation("index:saveContact", name="Alan", email="alan@example.com")
    expected = [{"name": "Ada", "email": "ada@example.com"}, {"name": "Alan", "email": "alan@example.com"}]
    assert project.query("index:listContacts") == expected


def test_a_known_email_changes_the_name(project: Deployment) -> None:
    project.mutation("index:saveContact", name="Ada", email="ada@example.com")
    project.mutation("index:saveContact", name="Ada King", email="ada@example.com")
    assert [contact["name"] for contact in project.documents("contacts")] == ["Ada King"]


def test_the_same_email_in_capitals_is_known(project: Deployment) -> None:
    project.mutation("index:saveContact", name="Ada", email="ada@example.com")
    project.mutation("index:saveContact", name="Ada King", email="ADA@example.com")
    assert len(project.documents("contacts")) == 1


def test_unique_is_used(files: Sources) -> None:
    assert ".unique()" in files.text("convex/index.ts")
