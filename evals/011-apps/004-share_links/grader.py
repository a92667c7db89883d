"""Files behind links that expire, are used up and revoked; what nobody can reach any more goes away by itself."""

from collections import Counter
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, at_once

FUNCTIONS = {
    "share:startUpload": ("mutation", ("user",)),
    "share:finishUpload": ("action", ("user", "storageId", "name")),
    "share:createLink": ("mutation", ("user", "file")),
    "share:revokeLink": ("mutation", ("user", "token")),
    "share:removeFile": ("mutation", ("user", "file")),
    "share:files": ("query", ("user",)),
    "share:links": ("query", ("user", "file")),
}
MINUTE = 60_000


class Service:
    """The functions with short names."""

    def __init__(self, project: Deployment) -> None:
        self.project = project

    def upload(self, content: bytes = b"content", type: str = "text/plain", user: str = "ada") -> str:
        url = self.project.mutation("share:startUpload", user=user)
        return self.project.storage.upload_to(url, content, type)

    def finish(self, storage_id: str, name: str = "a.txt", user: str = "ada") -> str:
        file: str = self.project.action("share:finishUpload", user=user, storageId=storage_id, name=name)
        return file

    def file(self, content: bytes = b"content", name: str = "a.txt", user: str = "ada") -> str:
        return self.finish(self.upload(content, user=user), name, user)

    def link(self, file: str, user: str = "ada", **limits: int) -> str:
        token: str = self.project.mutation("share:createLink", {"user": user, "file": file, **limits})
        return token

    def revoke(self, token: str, user: str = "ada") -> None:
        assert self.project.mutation("share:revokeLink", user=user, token=token) is None

    def status(self, token: str) -> int:
        return self.project.http.get(f"/d/{token}").status

    def files(self, user: str = "ada") -> list[tuple[str, int, int]]:
        listed = self.project.query("share:files", user=user)
        return [(each["name"], each["size"], each["links"]) for each in listed]

    def links(self, file: str, user: str = "ada") -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.project.query("share:links", user=user, file=file)
        return listed

    def stored(self) -> int:
        return len(self.project.storage.files())


@pytest.fixture
def service(project: Deployment) -> Service:
    return Service(project)


def test_a_file_is_downloaded_as_it_was_uploaded(service: Service) -> None:
    content = bytes(range(256))
    file = service.finish(service.upload(content, "image/png"), "my photo.png")
    token = service.link(file)
    assert len(token) >= 16
    for _ in range(2):
        response = service.project.http.get(f"/d/{token}")
        assert (response.status, response.body) == (200, content)
        assert response.header("Content-Type") == "image/png"
        assert response.header("Content-Disposition") == 'attachment; filename="my photo.png"'
    assert service.files() == [("my photo.png", 256, 1)]
    assert service.links(file) == [{"token": token, "downloadsLeft": None, "expiresAt": None}]
    assert service.status("nothing") == 404
    assert service.status(file) == 404


def test_a_link_allows_so_many_downloads(service: Service) -> None:
    file = service.file()
    token, other = service.link(file, downloads=2), service.link(file, downloads=1)
    assert service.status(token) == 200
    assert [each["downloadsLeft"] for each in service.links(file)] == [1, 1]
    assert [service.status(token) for _ in range(3)] == [200, 410, 410]
    assert [each["token"] for each in service.links(file)] == [other]
    assert service.files() == [("a.txt", 7, 1)]
    assert service.status(other) == 200
    assert service.links(file) == []


def test_however_many_download_at_once_a_link_allows_no_more(service: Service) -> None:
    token = service.link(service.file(), downloads=2)
    get = partial(service.project.http.get, f"/d/{token}")
    with service.project.lockstep(5):
        responses = at_once([get] * 5)
    assert Counter(each.status for each in responses) == {200: 2, 410: 3}
    assert [each.body for each in responses if each.status == 200] == [b"content"] * 2


def test_a_link_works_until_its_time_is_up(service: Service) -> None:
    file = service.file()
    before = service.project.now()
    short, long = service.link(file, minutes=60, downloads=5), service.link(file, minutes=120)
    first, second = service.links(file)
    assert 60 * MINUTE <= first["expiresAt"] - before <= 61 * MINUTE
    assert (second["token"], second["downloadsLeft"]) == (long, None)
    service.project.advance(minutes=57)
    assert service.status(short) == 200
    service.project.advance(minutes=5)
    assert [service.status(short), service.status(long)] == [410, 200]
    assert [each["token"] for each in service.links(file)] == [long]
    assert service.files() == [("a.txt", 7, 1)]
    service.project.advance(minutes=60)
    assert [service.status(long), service.files()] == [410, [("a.txt", 7, 0)]]


def test_a_revoked_link_does_not_work(service: Service) -> None:
    file = service.file()
    token, other = service.link(file), service.link(file)
    service.revoke(token)
    service.revoke(token)
    assert [service.status(token), service.status(other)] == [410, 200]
    assert [each["token"] for each in service.links(file)] == [other]


def test_a_removed_file_is_gone_with_its_links_and_its_content(service: Service) -> None:
    file, kept = service.file(), service.file(name="b.txt")
    token, revoked, other = service.link(file), service.link(file), service.link(kept)
    service.revoke(revoked)
    assert service.project.mutation("share:removeFile", user="ada", file=file) is None
    assert [service.status(each) for each in (token, revoked, other)] == [404, 404, 200]
    assert (service.files(), service.stored()) == ([("b.txt", 7, 1)], 1)
    for function in ("removeFile", "createLink"):
        with service.project.fails(data={"code": "NOT_FOUND"}):
            service.project.mutation(f"share:{function}", user="ada", file=file)
    with service.project.fails(data={"code": "NOT_FOUND"}):
        service.links(file)
    with service.project.fails(data={"code": "NOT_FOUND"}):
        service.revoke(token)


def test_what_does_not_fit_is_refused_and_deleted(service: Service) -> None:
    service.file(b"x" * 600, "first")
    too_large = service.upload(b"x" * 401)
    with service.project.fails(data={"code": "OVER_QUOTA"}):
        service.finish(too_large)
    assert (service.files(), service.stored()) == ([("first", 600, 0)], 1)
    with service.project.fails(data={"code": "NO_UPLOAD"}):
        service.finish(too_large)
    second = service.file(b"x" * 400, "second")
    service.file(b"x" * 1000, "hers", "ben")
    service.file(b"", "empty")
    assert service.files() == [("first", 600, 0), ("second", 400, 0), ("empty", 0, 0)]
    service.project.mutation("share:removeFile", user="ada", file=second)
    service.file(b"x" * 399, "third")
    assert (len(service.files()), service.stored()) == (3, 4)


def test_uploads_that_are_finished_at_once_do_not_exceed_the_quota(service: Service) -> None:
    uploads = [service.upload(b"x" * 300) for _ in range(5)]
    finish = [partial(service.finish, each, str(at)) for at, each in enumerate(uploads)]
    with service.project.lockstep(5):
        made = at_once(finish)
    assert sum(isinstance(each, CallFailed) for each in made) == 2
    assert (len(service.files()), service.stored()) == (3, 3)


def test_an_upload_can_be_finished_once(service: Service) -> None:
    storage_id = service.upload(b"x" * 600)
    file = service.finish(storage_id)
    token = service.link(file)
    for user in ("ada", "ben"):
        with service.project.fails(data={"code": "ALREADY_FINISHED"}):
            service.finish(storage_id, "again", user)
    assert (service.status(token), service.files(), service.files("ben")) == (200, [("a.txt", 600, 1)], [])


def test_an_upload_that_several_finish_at_once_becomes_the_file_of_one(service: Service) -> None:
    storage_id, users = service.upload(), ("ada", "ben", "cyd")
    with service.project.lockstep(3):
        made = at_once([partial(service.finish, storage_id, user=user) for user in users])
    refused = [each.data for each in made if isinstance(each, CallFailed)]
    assert refused == [{"code": "ALREADY_FINISHED"}] * 2
    assert [each for user in users for each in service.files(user)] == [("a.txt", 7, 0)]
    assert service.stored() == 1


def test_files_and_links_of_others_cannot_be_found(service: Service) -> None:
    file = service.file()
    token = service.link(file)
    for id in (file, "nothing"):
        for function in ("removeFile", "createLink"):
            with service.project.fails(data={"code": "NOT_FOUND"}):
                service.project.mutation(f"share:{function}", user="ben", file=id)
        with service.project.fails(data={"code": "NOT_FOUND"}):
            service.links(id, "ben")
    for each in (token, "nothing"):
        with service.project.fails(data={"code": "NOT_FOUND"}):
            service.revoke(each, "ben")
    assert (service.status(token), service.files("ben")) == (200, [])


def test_a_file_that_never_had_a_link_is_removed_after_seven_days(service: Service) -> None:
    file = service.file()
    service.project.advance(days=6, hours=23)
    assert service.files() == [("a.txt", 7, 0)]
    service.project.advance(days=1, hours=2)
    assert (service.files(), service.stored()) == ([], 0)
    with service.project.fails(data={"code": "NOT_FOUND"}):
        service.link(file)


def test_a_file_with_a_link_that_works_is_kept(service: Service) -> None:
    file = service.file()
    service.project.advance(days=6)
    token = service.link(file)
    service.project.advance(days=40)
    assert (service.status(token), service.files()) == (200, [("a.txt", 7, 1)])
    service.revoke(token)
    service.project.advance(days=6)
    assert service.status(token) == 410
    service.project.advance(days=3)
    assert (service.status(token), service.files(), service.stored()) == (404, [], 0)


def test_the_seven_days_begin_when_the_last_link_has_expired(service: Service) -> None:
    file = service.file()
    service.link(file, minutes=10 * 24 * 60)
    service.link(file, minutes=60)
    service.project.advance(days=16)
    assert service.files() == [("a.txt", 7, 0)]
    service.project.advance(days=3)
    assert (service.files(), service.stored()) == ([], 0)


def test_the_seven_days_begin_when_the_last_link_is_used_up(service: Service) -> None:
    file = service.file()
    token = service.link(file, minutes=90 * 24 * 60, downloads=1)
    service.project.advance(days=20)
    assert service.status(token) == 200
    service.project.advance(days=6)
    assert service.files() == [("a.txt", 7, 0)]
    service.project.advance(days=3)
    assert (service.files(), service.stored()) == ([], 0)


def test_a_new_link_ends_the_seven_days_and_revoking_an_expired_one_does_not_begin_them(service: Service) -> None:
    file = service.file()
    old = service.link(file, minutes=60)
    service.project.advance(days=5)
    new = service.link(file, minutes=2 * 24 * 60)
    service.project.advance(days=7)
    service.revoke(old)
    assert [service.status(old), service.status(new)] == [410, 410]
    service.project.advance(days=1)
    assert service.files() == [("a.txt", 7, 0)]
    service.project.advance(days=3)
    assert (service.files(), service.stored()) == ([], 0)


def test_clients_learn_no_address_of_the_content(service: Service) -> None:
    file = service.file()
    token = service.link(file)
    urls = [each.url for each in service.project.storage.files()]
    shown = str(service.project.query("share:files", user="ada")) + str(service.links(file))
    response = service.project.http.get(f"/d/{token}")
    assert response.status == 200
    assert response.header("Location") is None
    assert not any(each in shown + response.text for each in urls if each)


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(service: Service) -> None:
    project = service.project
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    calls = {"query": project.query, "mutation": project.mutation, "action": project.action}
    file = service.file()
    known = {"file": file, "token": service.link(file), "storageId": service.upload()}
    for name, (kind, names) in FUNCTIONS.items():
        arguments: dict[str, Any] = {each: known.get(each, "ada") for each in names}
        for argument in arguments:
            for rejected in ({**arguments, argument: 1}, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    calls[kind](name, rejected)
    for limit in ("minutes", "downloads"):
        with project.fails("ArgumentValidationError"):
            project.mutation("share:createLink", {"user": "ada", "file": file, limit: "1"})
