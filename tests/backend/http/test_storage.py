"""Files over HTTP, against a deployment that has no functions: uploads only need a URL."""

import asyncio
import base64
import hashlib
import os
import re
import resource
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from convex_evals.backend.deployed import Application, ComponentInstance, UdfConfig
from convex_evals.backend.deployment import Deployment
from convex_evals.backend.environment import write_paused
from convex_evals.backend.http.storage import ByteRange, UnsatisfiableRange, parse_range

APP = ComponentInstance("", "", "")
COUNTER = ComponentInstance("c1", "counter", "")
MEGABYTE = 1024 * 1024
Until = Callable[..., Awaitable[None]]
NO_UUID = "00000000-0000-4000-8000-000000000000"


class Storage:
    """A deployment with a storage folder, and a client of it."""

    def __init__(self, deployment: Deployment, folder: Path, client: httpx2.AsyncClient) -> None:
        self.deployment = deployment
        self.folder = folder
        self.client = client

    def upload_url(self, instance: ComponentInstance = APP) -> str:
        return self.deployment.files.upload_url(instance)

    async def upload(self, content: bytes, instance: ComponentInstance = APP, **headers: str) -> str:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = await self.client.post(self.upload_url(instance), content=content, headers=named)
        assert response.status_code == 200, response.text
        return str(response.json()["storageId"])

    def url(self, storage_id: str, instance: ComponentInstance = APP) -> str:
        url = self.deployment.files.get_url(self.deployment.database.begin(), instance, storage_id)
        assert url is not None
        return url

    async def uploaded(self, content: bytes, **headers: str) -> str:
        """The URL of a new file."""
        return self.url(await self.upload(content, **headers))

    def rows(self, namespace: str = "") -> int:
        return self.deployment.database.begin().count(namespace, "_storage")

    @property
    def stored(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.is_file()]


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    async with Deployment.start(storage=tmp_path) as deployment, httpx2.AsyncClient(timeout=60) as client:
        yield Storage(deployment, tmp_path, client)


def digest_of(content: bytes) -> str:
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


async def test_a_file_comes_back_as_it_was_sent(storage: Storage) -> None:
    content = bytes(range(256)) * 10
    storage_id = await storage.upload(content, Content_Type="Image/PNG", Digest=f"sha-256={digest_of(content)}")
    assert re.fullmatch(r"kg[0-9a-z]{30}", storage_id)
    response = await storage.client.get(storage.url(storage_id))
    assert (response.status_code, response.content) == (200, content)
    assert dict(response.headers) == {
        "content-type": "image/png",
        "content-length": "2560",
        "digest": f"sha-256={digest_of(content)}",
        "cache-control": "private, max-age=2592000",
        "accept-ranges": "bytes",
    }


async def test_head_answers_without_the_bytes(storage: Storage) -> None:
    response = await storage.client.head(await storage.uploaded(b"content"))
    assert (response.status_code, response.content, response.headers["content-length"]) == (200, b"", "7")
    assert "content-type" not in response.headers


async def test_an_upload_url_can_be_used_again(storage: Storage) -> None:
    url = storage.upload_url()
    answers = await asyncio.gather(*(storage.client.post(url, content=b"same") for _ in range(5)))
    assert len({answer.json()["storageId"] for answer in answers}) == 5
    assert storage.rows() == 5


async def test_pages_of_this_machine_may_upload(storage: Storage) -> None:
    response = await storage.client.post(
        storage.upload_url(), content=b"", headers={"Origin": "http://app.localhost:5173"}
    )
    assert response.headers["access-control-allow-origin"] == "http://app.localhost:5173"


@pytest.mark.parametrize("megabytes", [20, 30])
async def test_large_files_pass_in_pieces(storage: Storage, megabytes: int) -> None:
    piece = os.urandom(MEGABYTE)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(megabytes):
            yield piece

    response = await storage.client.post(storage.upload_url(), content=pieces(), timeout=30)
    content = (await storage.client.get(storage.url(response.json()["storageId"]))).content
    assert hashlib.sha256(content).digest() == hashlib.sha256(piece * megabytes).digest()


@pytest.mark.parametrize(
    ("header", "part", "content_range"),
    [
        ("bytes=0-3", b"0123", "bytes 0-3/10"),
        ("bytes=7-", b"789", "bytes 7-9/10"),
        ("bytes=7-99", b"789", "bytes 7-9/10"),
        ("bytes=-2", b"89", "bytes 8-9/10"),
        ("bytes=-99", b"0123456789", "bytes 0-9/10"),
    ],
)
async def test_a_part_of_a_file(storage: Storage, header: str, part: bytes, content_range: str) -> None:
    url = await storage.uploaded(b"0123456789", Content_Type="text/plain")
    response = await storage.client.get(url, headers={"Range": header})
    assert (response.status_code, response.content) == (206, part)
    assert dict(response.headers) == {
        "content-type": "text/plain",
        "content-length": str(len(part)),
        "content-range": content_range,
        "cache-control": "private, max-age=2592000",
        "accept-ranges": "bytes",
    }


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=-0", "bytes=0-1,3-4"])
async def test_a_part_that_cannot_be_served(storage: Storage, header: str) -> None:
    response = await storage.client.get(await storage.uploaded(b"0123456789"), headers={"Range": header})
    assert (response.status_code, response.content) == (416, b"")
    assert response.headers["content-range"] == "bytes */10"


async def test_an_empty_file_is_served_whole_whatever_is_asked_for(storage: Storage) -> None:
    response = await storage.client.get(await storage.uploaded(b""), headers={"Range": "bytes=0-3"})
    assert (response.status_code, response.content, response.headers["content-length"]) == (200, b"", "0")


async def test_a_deleted_file_is_not_found(storage: Storage) -> None:
    storage_id = await storage.upload(b"x")
    url = storage.url(storage_id)
    transaction = storage.deployment.database.begin()
    storage.deployment.files.delete(transaction, APP, storage_id)
    assert (await storage.client.get(url)).content == b"x"
    storage.deployment.database.commit(transaction)
    response = await storage.client.get(url)
    uuid = url.rpartition("/")[2]
    assert response.status_code == 404
    assert response.json() == {"code": "FileNotFound", "message": f"File {uuid} not found"}


async def test_files_of_components_are_found_through_them_only(storage: Storage) -> None:
    storage.deployment.current.replace(Application(1, UdfConfig("1.44.0", b"", 0), {}, {"": APP, "counter": COUNTER}))
    storage_id = await storage.upload(b"theirs", COUNTER)
    assert (storage.rows(), storage.rows("c1")) == (0, 1)
    url = storage.url(storage_id, COUNTER)
    assert (await storage.client.get(url)).content == b"theirs"
    for elsewhere in (url.partition("?")[0], url.replace("=c1", "=c2")):
        assert (await storage.client.get(elsewhere)).status_code == 404


@pytest.mark.parametrize("path", ["not-a-uuid", "upload", NO_UUID[:-1]])
async def test_a_path_that_names_no_file_says_how_to_get_one(storage: Storage, path: str) -> None:
    response = await storage.client.get(f"{storage.deployment.url}/api/storage/{path}")
    assert response.status_code == 400
    assert response.json() == {
        "code": "InvalidStoragePath",
        "message": f'Invalid storage path: "{path}". Please use `storage.getUrl(storageId: Id<"_storage">)` to '
        "generate a valid URL to retrieve files. See https://docs.convex.dev/file-storage/serve-files for more details",
    }


@pytest.mark.parametrize(
    ("query", "headers", "status", "code", "message"),
    [
        ("", {}, 400, "BadQueryArgs", "Failed to deserialize query string: missing field `token`"),
        ("?token=x", {}, 401, "StorageTokenInvalid", "Couldn't decode the StoreFileAuthorization token"),
        ("?token=x", {"Digest": "md5=x"}, 400, "BadHeader", "Bad header for digest: invalid HTTP header"),
        ("?token=x", {"Content-Type": "x"}, 400, "BadHeader", "Bad header for content-type: invalid HTTP header"),
    ],
)
async def test_an_upload_that_is_refused(
    storage: Storage, query: str, headers: dict[str, str], status: int, code: str, message: str
) -> None:
    url = f"{storage.deployment.url}/api/storage/upload{query}"
    response = await storage.client.post(url, content=b"x", headers=headers)
    assert (response.status_code, response.json()) == (status, {"code": code, "message": message})
    assert storage.rows() == 0


async def test_a_wrong_digest_stores_nothing(storage: Storage) -> None:
    headers = {"Digest": f"sha-256={digest_of(b'y')}"}
    response = await storage.client.post(storage.upload_url(), content=b"x", headers=headers)
    message = f"Sha256 mismatch. Expected: {digest_of(b'y')} Actual: {digest_of(b'x')}"
    assert (response.status_code, response.json()) == (400, {"code": "Sha256Mismatch", "message": message})
    assert (storage.rows(), storage.stored) == (0, [])


async def test_a_paused_deployment_takes_no_files(storage: Storage) -> None:
    transaction = storage.deployment.database.begin()
    write_paused(transaction, True)
    storage.deployment.database.commit(transaction)
    response = await storage.client.post(storage.upload_url(), content=b"x")
    assert (response.status_code, response.json()["code"]) == (400, "BackendIsNotRunning")


@pytest.mark.parametrize("head", ["Content-Length: 6000000", "Transfer-Encoding: chunked"])
async def test_an_upload_that_is_cut_off_leaves_nothing(storage: Storage, head: str, until: Until) -> None:
    target = urlsplit(storage.upload_url())
    assert target.hostname is not None and target.port is not None
    body = bytes(3 * MEGABYTE)
    if head.startswith("Transfer"):
        body = b"%x\r\n%s\r\n" % (len(body), body)
    request = f"POST {target.path}?{target.query} HTTP/1.1\r\nHost: localhost\r\n{head}\r\n\r\n".encode()
    with socket.create_connection((target.hostname, target.port)) as connection:
        await asyncio.to_thread(connection.sendall, request + body)
        await until(lambda: any(path.suffix == ".part" for path in storage.stored))
    await until(lambda: storage.stored == [])
    assert storage.rows() == 0
    assert (await storage.client.get(await storage.uploaded(b"next"))).content == b"next"


async def test_a_full_disk_refuses_the_file_and_records_nothing(storage: Storage) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * MEGABYTE, limits[1]))
    try:
        response = await storage.client.post(storage.upload_url(), content=bytes(5 * MEGABYTE))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (response.status_code, response.json()["code"]) == (500, "InternalServerError")
    assert (storage.rows(), storage.stored) == (0, [])
    assert (await storage.client.get(await storage.uploaded(b"room again"))).content == b"room again"


@pytest.mark.parametrize("settings", [{}, {"storage": "own"}])
async def test_files_and_upload_urls_survive_a_restart(tmp_path: Path, settings: dict[str, str]) -> None:
    folders = {name: tmp_path / folder for name, folder in settings.items()}
    kept = {"database": tmp_path / "data.db", "instance_secret": "5e" * 32, **folders}
    async with httpx2.AsyncClient(timeout=60) as client:
        async with Deployment.start(**kept) as deployment:  # type: ignore[arg-type]
            first = Storage(deployment, tmp_path, client)
            storage_id = await first.upload(b"kept", Content_Type="text/plain")
            upload = urlsplit(first.upload_url())
        async with Deployment.start(**kept) as deployment:  # type: ignore[arg-type]
            again = Storage(deployment, tmp_path, client)
            response = await client.get(again.url(storage_id))
            assert (response.content, response.headers["content-type"]) == (b"kept", "text/plain")
            url = f"{deployment.url}{upload.path}?{upload.query}"
            assert (await client.post(url, content=b"new")).status_code == 200


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("bytes=0-3", ByteRange(0, 3)),
        ("Bytes = 2-2", ByteRange(2, 2)),
        ("bytes=4-", ByteRange(4, 9)),
        ("bytes=4-99", ByteRange(4, 9)),
        ("bytes=-3", ByteRange(7, 9)),
        ("bytes=-99", ByteRange(0, 9)),
        ("bytes=9-9", ByteRange(9, 9)),
        ("bytes=5-4", None),
        ("bytes=-", None),
        ("bytes=a-b", None),
        ("bytes=", None),
        ("items=0-3", None),
        ("garbage", None),
    ],
)
def test_one_range_is_cut_to_the_file_and_nonsense_is_ignored(header: str | None, expected: ByteRange | None) -> None:
    assert parse_range(header, 10) == expected


@pytest.mark.parametrize(
    "header", ["bytes=10-", "bytes=10-20", "bytes=99-100", "bytes=-0", "bytes=0-1,3-4", "bytes=1,2"]
)
def test_bytes_that_are_not_there_or_in_several_places_cannot_be_served(header: str) -> None:
    with pytest.raises(UnsatisfiableRange):
        parse_range(header, 10)


def test_all_of_an_empty_file_is_nothing() -> None:
    assert parse_range("bytes=0-3", 0) is None
