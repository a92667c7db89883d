"""File storage."""

import base64
import hashlib

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target


async def _upload(t: Target, content: bytes, **headers: str) -> str:
    url = await t.mutation("files:uploadUrl")
    response = await t.http.post(
        url, content=content, headers={name.replace("_", "-"): v for name, v in headers.items()}
    )
    expect.equal(response.status_code, 200, f"status of the upload ({response.text})")
    return str(response.json()["storageId"])


def _digest(content: bytes) -> str:
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


@check(286, "An uploaded file is served back byte for byte with its content type", p1=True)
async def upload_and_serve(t: Target) -> None:
    content = bytes(range(256)) * 10
    url = await t.query("files:url", {"file": await _upload(t, content, Content_Type="image/png")})
    response = await t.http.get(url)
    expect.equal((response.content, response.headers["content-type"]), (content, "image/png"))


@check(287, "`_storage` tells size, sha256 and content type", p1=True)
async def storage_row(t: Target) -> None:
    identifier = await _upload(t, b"hello", Content_Type="text/plain")
    row = await t.query("files:row", {"file": identifier})
    expect.equal((row["size"], row["sha256"], row["contentType"]), (5.0, _digest(b"hello"), "text/plain"))
    expect.true(isinstance(row["_creationTime"], float), "no creation time")


@check(288, "Without a content type it is null")
async def no_content_type(t: Target) -> None:
    row = await t.query("files:row", {"file": await _upload(t, b"x")})
    expect.equal(row.get("contentType"), None)


@check(289, "A wrong digest is refused and stores nothing")
async def wrong_digest(t: Target) -> None:
    count = await t.system("frontend/fileStorageV2:numFiles", {})
    url = await t.mutation("files:uploadUrl")
    response = await t.http.post(url, content=b"x", headers={"Digest": f"sha-256={_digest(b'y')}"})
    expect.equal(response.status_code, 400)
    expect.equal(response.json()["message"], f"Sha256 mismatch. Expected: {_digest(b'y')} Actual: {_digest(b'x')}")
    expect.equal(await t.system("frontend/fileStorageV2:numFiles", {}), count)


@check(290, "A bad upload token is refused")
async def bad_token(t: Target) -> None:
    response = await t.http.post(f"{t.url}/api/storage/upload?token=garbage", content=b"x")
    expect.equal((response.status_code, response.json()["code"]), (401, "StorageTokenInvalid"))


@check(291, "An action stores a Blob and gets it back", p1=True)
async def blob_round_trip(t: Target) -> None:
    identifier = await t.action("files:store", {"text": "x", "type": "text/plain"})
    expect.equal(await t.action("files:read", {"file": identifier}), {"text": "x", "type": "text/plain", "size": 1.0})


@check(292, "store() refuses what is no Blob")
async def not_a_blob(t: Target) -> None:
    expect.starts((await expect.failure(t.action("files:storeText"))).plain, "store() expects a Blob.")


@check(293, "getUrl and get of a missing file are null", p1=True)
async def missing_file(t: Target) -> None:
    identifier = await _upload(t, b"x")
    await t.mutation("files:remove", {"file": identifier})
    expect.equal(await t.query("files:url", {"file": identifier}), None)
    expect.equal(await t.action("files:read", {"file": identifier}), None)


@check(294, "Deleting a missing file fails")
async def delete_missing(t: Target) -> None:
    identifier = await _upload(t, b"x")
    await t.mutation("files:remove", {"file": identifier})
    failure = await expect.failure(t.mutation("files:remove", {"file": identifier}))
    expect.equal(failure.plain, f"storage id {identifier} not found")


@check(295, "A delete in a mutation that throws keeps the file", p1=True)
async def delete_rolled_back(t: Target) -> None:
    identifier = await _upload(t, b"x")
    await expect.failure(t.mutation("files:removeThenThrow", {"file": identifier}))
    expect.equal((await t.http.get(await t.query("files:url", {"file": identifier}))).content, b"x")


@check(296, "After a delete the URL answers 404")
async def url_after_delete(t: Target) -> None:
    identifier = await _upload(t, b"x")
    url = await t.query("files:url", {"file": identifier})
    await t.mutation("files:remove", {"file": identifier})
    expect.equal((await t.http.get(url)).status_code, 404)


@check(297, "getUrl of garbage is refused")
async def garbage_id(t: Target) -> None:
    failure = await expect.failure(t.query("files:url", {"file": "garbage"}))
    expect.starts(failure.plain, 'Invalid argument `storageId` for `storage.getUrl`: Invalid storage ID: "garbage".')


@check(298, "getUrl of a document's id is refused")
async def document_id(t: Target) -> None:
    failure = await expect.failure(t.query("files:url", {"file": await t.mutation("files:addDocument")}))
    expect.equal(failure.plain, "Invalid storage ID. Storage ID cannot be an ID on any table other than '_storage'.")


@check(299, "A range is served as 206")
async def ranges(t: Target) -> None:
    url = await t.query("files:url", {"file": await _upload(t, b"0123456789")})
    response = await t.http.get(url, headers={"Range": "bytes=0-3"})
    expect.equal((response.status_code, response.content), (206, b"0123"))
    expect.equal(response.headers["content-range"], "bytes 0-3/10")


@check(300, "Files carry caching and digest headers")
async def headers(t: Target) -> None:
    response = await t.http.get(await t.query("files:url", {"file": await _upload(t, b"x")}))
    expect.equal(response.headers["cache-control"], "private, max-age=2592000")
    expect.equal(response.headers["digest"], f"sha-256={_digest(b'x')}")


@check(301, "A storage path that is no uuid is refused")
async def bad_path(t: Target) -> None:
    response = await t.http.get(f"{t.url}/api/storage/not-a-uuid")
    expect.equal(response.status_code, 400)
    expect.contains(response.json()["message"], 'Invalid storage path: "not-a-uuid".')


@check(302, "A subscribed query that returned a URL re-runs with null after the delete")
async def live_url(t: Target) -> None:
    identifier = await _upload(t, b"x")
    async with t.sync() as client:
        (url,) = await client.subscribe(("files:url", {"file": identifier}))
        expect.true(url.latest, "no URL")
        await t.mutation("files:remove", {"file": identifier})
        await client.until(lambda: url.latest is None)


@check(303, "getMetadata gives the hex digest and the uuid; null when missing")
async def metadata(t: Target) -> None:
    identifier = await _upload(t, b"x")
    found = await t.query("files:metadata", {"file": identifier})
    expect.equal(found["sha256"], hashlib.sha256(b"x").hexdigest())
    expect.matches(found["storageId"], r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$")
    await t.mutation("files:remove", {"file": identifier})
    expect.equal(await t.query("files:metadata", {"file": identifier}), None)


@check(304, "A 30 MiB upload succeeds")
async def big_upload(t: Target) -> None:
    content = b"0123456789abcdef" * (2 * 1024 * 1024)
    identifier = await _upload(t, content[: 30 * 1024 * 1024])
    expect.equal((await t.query("files:row", {"file": identifier}))["size"], float(30 * 1024 * 1024))


@check(305, "v.id accepts ids of `_storage` and `_scheduled_functions` in arguments and documents")
async def system_ids(t: Target) -> None:
    identifier = await _upload(t, b"x")
    document = await t.mutation("files:refer", {"file": identifier})
    expect.equal((document["file"], len(document["job"])), (identifier, 32))
