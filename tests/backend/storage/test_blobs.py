import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from convex_evals.backend.storage import BlobStore

MEGABYTE = 1024 * 1024


@pytest.fixture(params=["own folder", "temporary folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BlobStore]:
    store = BlobStore(tmp_path / "storage" if request.param == "own folder" else None)
    yield store
    store.close()


async def receive(store: BlobStore, *chunks: bytes) -> str:
    async with store.receive() as incoming:
        for chunk in chunks:
            await incoming.write(chunk)
        return (await incoming.finish()).uuid


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "chunks", [(), (b"",), (b"x",), (b"ab", b"cd"), (b"0123456789abcdef" * 70_000, b"tail"), (bytes(MEGABYTE),) * 3]
)
async def test_what_is_received_can_be_read(store: BlobStore, chunks: tuple[bytes, ...]) -> None:
    content = b"".join(chunks)
    async with store.receive() as incoming:
        for chunk in chunks:
            await incoming.write(chunk)
        blob = await incoming.finish()
    assert (blob.size, blob.sha256) == (len(content), hashlib.sha256(content).digest())
    file = store.open(blob.uuid)
    assert file is not None
    with file:
        assert file.read() == content


async def test_a_removed_blob_is_gone_but_readers_finish(store: BlobStore) -> None:
    uuid = await receive(store, b"content")
    file = store.open(uuid)
    assert file is not None
    with file:
        store.remove(uuid)
        store.remove(uuid)
        assert store.open(uuid) is None
        assert file.read() == b"content"


async def test_nothing_is_left_of_a_transfer_that_breaks_off(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    with pytest.raises(ConnectionError):
        async with store.receive() as incoming:
            await incoming.write(bytes(2 * MEGABYTE))
            assert [path.suffix for path in files_in(tmp_path)] == [".part"]
            raise ConnectionError
    assert files_in(tmp_path) == []


async def test_nothing_is_left_when_what_follows_the_last_byte_fails(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    with pytest.raises(ValueError, match="too late"):
        async with store.receive() as incoming:
            await incoming.finish()
            raise ValueError("too late")
    assert files_in(tmp_path) == []


async def test_nothing_is_left_of_a_cancelled_transfer(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    written = asyncio.Event()

    async def chunks() -> AsyncIterator[bytes]:
        yield bytes(2 * MEGABYTE)
        written.set()
        await asyncio.Event().wait()

    async def transfer() -> None:
        async with store.receive() as incoming:
            await incoming.write_all(chunks())

    task = asyncio.create_task(transfer())
    await written.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert files_in(tmp_path) == []


async def test_nothing_is_left_of_a_transfer_cancelled_while_it_writes(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    for _ in range(20):
        task = asyncio.create_task(receive(store, bytes(2 * MEGABYTE)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert files_in(tmp_path) == []


async def test_blobs_survive_in_a_folder_and_what_a_crash_left_half_done_does_not(tmp_path: Path) -> None:
    uuid = await receive(BlobStore(tmp_path), b"kept")
    [kept] = files_in(tmp_path)
    abandoned = kept.with_name("00000000-0000-4000-8000-000000000000.part")
    abandoned.write_bytes(b"half")
    again = BlobStore(tmp_path).open(uuid)
    assert again is not None
    with again:
        assert again.read() == b"kept"
    assert files_in(tmp_path) == [kept]


async def test_a_store_without_a_folder_leaves_nothing_behind() -> None:
    store = BlobStore()
    file = store.open(await receive(store, b"x"))
    assert file is not None
    folder = Path(file.name).parent
    file.close()
    assert folder.is_dir()
    store.close()
    assert not folder.exists()
