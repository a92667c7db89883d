"""`ctx.storage` on a real database and a real folder, without functions."""

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.backend.database import Database, Transaction
from convex_evals.backend.deployed import ComponentInstance
from convex_evals.backend.environment import CanonicalUrls, write_url
from convex_evals.backend.errors import DeveloperError, RequestError, SystemFailure
from convex_evals.backend.storage import BlobStore, Files, Sha256Mismatch, UploadTokens
from convex_evals.backend.storage.files import (
    normalize_media_type,
    parse_base64_digest,
    parse_digest_header,
)

APP = ComponentInstance("", "", "")
COUNTER = ComponentInstance("c1", "counter", "counter")
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
NO_UUID = "00000000-0000-4000-8000-000000000000"

DIGEST = hashlib.sha256(b"x").digest()
TEXT = base64.b64encode(DIGEST).decode()


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = Database.open(None)
        urls = CanonicalUrls("http://cloud", "http://site")
        self.files = Files(self.database, BlobStore(folder), UploadTokens("secret"), urls)

    async def store(self, content: bytes = b"content", instance: ComponentInstance = APP) -> str:
        return await self.files.store(instance, content, "text/plain", None)

    def url(self, storage_id: str, instance: ComponentInstance = APP) -> str | None:
        return self.files.get_url(self.database.begin(), instance, storage_id)

    def delete(self, storage_id: str) -> None:
        transaction = self.database.begin()
        self.files.delete(transaction, APP, storage_id)
        self.database.commit(transaction)

    def rows(self, namespace: str = "") -> int:
        return self.database.begin().count(namespace, "_storage")

    @property
    def stored(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.is_file()]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_a_stored_file_has_a_row_a_url_and_metadata(world: World) -> None:
    storage_id = await world.store(b"hello")
    transaction = world.database.begin()
    document = transaction.get("", storage_id, is_system=True)
    assert document is not None
    digest = hashlib.sha256(b"hello")
    assert {name: value for name, value in document.value.items() if not name.startswith("_")} == {
        "contentType": "text/plain",
        "sha256": base64.b64encode(digest.digest()).decode(),
        "size": 5.0,
    }
    url = world.url(storage_id)
    assert url is not None and re.fullmatch(rf"http://cloud/api/storage/{UUID}", url)
    assert world.files.get_metadata(transaction, APP, storage_id) == {
        "storageId": url.rpartition("/")[2],
        "sha256": digest.hexdigest(),
        "size": 5.0,
        "contentType": "text/plain",
    }


async def test_a_file_answers_to_the_uuid_of_its_url_too(world: World) -> None:
    storage_id = await world.store()
    url = world.url(storage_id)
    assert url is not None
    uuid = url.rpartition("/")[2]
    assert world.url(uuid) == world.url(uuid.upper()) == url
    world.delete(uuid)
    assert world.url(storage_id) is None


async def test_urls_follow_the_canonical_url(world: World) -> None:
    storage_id = await world.store()
    transaction = world.database.begin()
    write_url(transaction, "convexCloud", "https://files.example")
    world.database.commit(transaction)
    for url in (world.url(storage_id), world.files.upload_url(APP)):
        assert url is not None and url.startswith("https://files.example/api/storage/")


@pytest.mark.parametrize("missing", ["deleted", NO_UUID])
async def test_a_missing_file_is_null_and_cannot_be_deleted(world: World, missing: str) -> None:
    if missing == "deleted":
        missing = await world.store()
        world.delete(missing)
    transaction = world.database.begin()
    assert world.files.get_url(transaction, APP, missing) is None
    assert world.files.get_metadata(transaction, APP, missing) is None
    assert await world.files.load(APP, missing) is None
    with pytest.raises(DeveloperError, match=f"^storage id {missing} not found$"):
        world.files.delete(transaction, APP, missing)


METHODS: dict[str, Callable[[Files, Transaction, str], object]] = {
    "storage.getUrl": lambda files, transaction, text: files.get_url(transaction, APP, text),
    "storage.getMetadata": lambda files, transaction, text: files.get_metadata(transaction, APP, text),
    "storage.delete": lambda files, transaction, text: files.delete(transaction, APP, text),
}


@pytest.mark.parametrize("method", METHODS)
def test_text_that_cannot_name_a_file_is_refused(world: World, method: str) -> None:
    transaction = world.database.begin()
    for text in ["garbage", "", "00000000-0000-4000-8000-00000000000"]:
        with pytest.raises(DeveloperError) as refused:
            METHODS[method](world.files, transaction, text)
        assert refused.value.message == (
            f'Invalid argument `storageId` for `{method}`: Invalid storage ID: "{text}". '
            "Storage ID should be an Id of '_storage' table, or a UUID string."
        )


@pytest.mark.parametrize("method", METHODS)
def test_the_id_of_a_document_is_refused(world: World, method: str) -> None:
    transaction = world.database.begin()
    document = transaction.insert("", "messages", {})
    with pytest.raises(DeveloperError) as refused:
        METHODS[method](world.files, transaction, document.id)
    assert refused.value.message == (
        "Invalid storage ID. Storage ID cannot be an ID on any table other than '_storage'."
    )


async def test_an_action_that_passes_garbage_gets_an_error_of_get_metadata(world: World) -> None:
    with pytest.raises(DeveloperError, match=r"^Invalid argument `storageId` for `storage\.getMetadata`: "):
        await world.files.load(APP, "garbage")


async def test_a_delete_counts_from_the_commit_on(world: World) -> None:
    storage_id = await world.store()
    transaction = world.database.begin()
    world.files.delete(transaction, APP, storage_id)
    assert world.files.get_url(transaction, APP, storage_id) is None
    with pytest.raises(DeveloperError, match="not found"):
        world.files.delete(transaction, APP, storage_id)
    assert world.url(storage_id) is not None
    assert len(world.stored) == 1
    world.database.commit(transaction)
    assert world.url(storage_id) is None
    assert world.stored == []


async def test_a_delete_that_is_rolled_back_keeps_the_file(world: World) -> None:
    storage_id = await world.store()
    transaction = world.database.begin()
    savepoint = transaction.savepoint()
    world.files.delete(transaction, APP, storage_id)
    transaction.rollback(savepoint)
    world.database.commit(transaction)
    blob = await world.files.load(APP, storage_id)
    assert blob is not None and blob.content == b"content"


async def test_a_delete_touches_queries_that_saw_the_url(world: World) -> None:
    storage_id, other = await world.store(), await world.store()
    by_id, by_uuid, unrelated = (world.database.begin() for _ in range(3))
    url = world.files.get_url(by_id, APP, storage_id)
    assert url is not None
    world.files.get_url(by_uuid, APP, url.rpartition("/")[2])
    world.files.get_url(unrelated, APP, other)
    world.delete(storage_id)
    changed = [world.database.changed_since(reader.read_set, reader.ts) for reader in (by_id, by_uuid, unrelated)]
    assert changed == [True, True, False]


async def test_files_belong_to_their_component(world: World) -> None:
    storage_id = await world.store(instance=COUNTER)
    url = world.url(storage_id, COUNTER)
    assert url is not None and re.fullmatch(rf"http://cloud/api/storage/{UUID}\?component=c1", url)
    assert world.url(storage_id) is None
    assert await world.files.load(APP, storage_id) is None
    assert (world.rows(""), world.rows("c1")) == (0, 1)
    token = world.files.upload_url(COUNTER).partition("?token=")[2]
    assert world.files.tokens.component_of(token) == "c1"


async def test_a_digest_is_base64_and_must_be_right(world: World) -> None:
    right = hashlib.sha256(b"x").digest()
    storage_id = await world.files.store(APP, b"x", None, base64.b64encode(right).decode())
    blob = await world.files.load(APP, storage_id)
    assert blob is not None and (blob.content, blob.content_type) == (b"x", None)
    with pytest.raises(Sha256Mismatch):
        await world.files.store(APP, b"y", None, base64.b64encode(right).decode())
    with pytest.raises(DeveloperError, match=r"^Invalid argument `sha256` for `storage\.store`: "):
        await world.files.store(APP, b"x", None, right.hex())
    assert (world.rows(), len(world.stored)) == (1, 1)


async def test_the_type_of_a_blob_is_kept_when_it_is_one(world: World) -> None:
    for given, kept in [("Text/HTML", "text/html"), ("no type", None), (None, None)]:
        blob = await world.files.load(APP, await world.files.store(APP, b"", given, None))
        assert blob is not None and blob.content_type == kept


async def test_a_file_that_cannot_be_written_is_our_failure(tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("a file where the folder should be")
    world = World(tmp_path / "occupied")
    with pytest.raises(SystemFailure, match="cannot store a file"):
        await world.store()
    assert world.rows() == 0


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def refusal(tokens: UploadTokens, token: str) -> RequestError:
    with pytest.raises(RequestError) as refused:
        tokens.component_of(token)
    return refused.value


@pytest.mark.parametrize("component", ["", "n57abc"])
def test_a_token_carries_its_component_and_can_be_used_again(component: str) -> None:
    tokens = UploadTokens("secret")
    token = tokens.issue(component)
    assert [tokens.component_of(token), tokens.component_of(token)] == [component, component]


def test_a_token_outlives_a_restart_with_the_same_secret() -> None:
    assert UploadTokens("secret").component_of(UploadTokens("secret").issue("c")) == "c"


def test_a_token_expires_after_an_hour() -> None:
    clock = Clock()
    tokens = UploadTokens("secret", clock)
    token = tokens.issue("")
    clock.now += 3599
    assert tokens.component_of(token) == ""
    clock.now += 1
    error = refusal(tokens, token)
    assert (error.status, error.code) == (401, "StorageTokenExpired")
    assert error.message == "Store File Authorization expired"


def test_anything_else_is_undecodable() -> None:
    tokens = UploadTokens("secret")
    token = tokens.issue("")
    changed = token[:50] + ("A" if token[50] != "A" else "B") + token[51:]
    for text in ["", "garbage", "é", "a" * 200, token[:-4], changed, UploadTokens("other").issue("")]:
        error = refusal(tokens, text)
        assert (error.status, error.code) == (401, "StorageTokenInvalid")
        assert error.message == "Couldn't decode the StoreFileAuthorization token"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (f"sha-256={TEXT}", DIGEST),
        (f" SHA-256={TEXT} ", DIGEST),
        (TEXT, None),
        ("sha-256=", None),
        (f"sha-512={TEXT}", None),
        (f"sha-256={DIGEST.hex()}", None),
        (f"sha-256={TEXT[:-4]}", None),
        ("sha-256=é", None),
    ],
)
def test_a_digest_header_holds_the_base64_of_a_digest_or_nothing(header: str, expected: bytes | None) -> None:
    assert parse_digest_header(header) == expected


def test_hex_is_not_base64() -> None:
    assert parse_base64_digest(DIGEST.hex()) is None


def test_a_mismatch_shows_both_digests() -> None:
    other = hashlib.sha256(b"y").digest()
    expected = f"Sha256 mismatch. Expected: {base64.b64encode(other).decode()} Actual: {TEXT}"
    assert Sha256Mismatch(other, DIGEST).message == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("image/png", "image/png"),
        ("Image/PNG", "image/png"),
        (" text/plain ", "text/plain"),
        ("Text/Plain; Charset=UTF-8", "text/plain; charset=utf-8"),
        ("text/plain;charset=utf-8", "text/plain;charset=utf-8"),
        ('multipart/form-data; Boundary="A b"', 'multipart/form-data; boundary="A b"'),
        ("image/svg+xml", "image/svg+xml"),
        ("text/plain;", "text/plain"),
        ("text", None),
        ("", None),
        ("text/", None),
        ("te xt/plain", None),
        ("text/plain; charset", None),
        ("text/plain\r\nx: y", None),
        ('text/plain; a="\x01"', None),
        ("text/pläin", None),
    ],
)
def test_media_types_are_normalized_and_others_become_none(text: str, expected: str | None) -> None:
    assert normalize_media_type(text) == expected
