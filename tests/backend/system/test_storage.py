from typing import Any

import pytest

from convex_evals.backend.errors import DeveloperError

System = Any

ALL = {"numItems": 10.0, "cursor": None}


def store(system: System, size: int = 3, **more: Any) -> str:
    stored: str = system.insert_row("_file_storage", storageId="u", sha256=b"\x01", size=size, contentType=None, **more)
    return stored


async def test_files_are_counted(system: System) -> None:
    store(system)
    store(system)
    assert await system.call("frontend/fileStorageV2:numFiles") == 2.0


async def test_files_are_listed_newest_first_with_their_urls(system: System) -> None:
    first, second = store(system, 1), store(system, 2)
    page = await system.call("frontend/fileStorageV2:fileMetadata", paginationOpts=ALL)
    assert [(file["_id"], file["size"], file["url"]) for file in page["page"]] == [
        (second, 2.0, f"http://cloud/api/storage/{second[-4:]}"),
        (first, 1.0, f"http://cloud/api/storage/{first[-4:]}"),
    ]
    assert page["isDone"] is True


async def test_files_are_chosen_by_creation_time_bounds_included(system: System) -> None:
    for size in range(4):
        store(system, size)
    page = await system.call("frontend/fileStorageV2:fileMetadata", paginationOpts=ALL, filters={"order": "asc"})
    times = [file["_creationTime"] for file in page["page"]]
    bounds = {"minCreationTime": times[1], "maxCreationTime": times[2]}
    inside = await system.call("frontend/fileStorageV2:fileMetadata", paginationOpts=ALL, filters=bounds)
    assert [file["size"] for file in inside["page"]] == [2.0, 1.0]


async def test_one_file_is_found(system: System) -> None:
    file = store(system)
    found = await system.call("frontend/fileStorageV2:getFile", storageId=file)
    assert (found["_id"], found["sha256"], found["contentType"]) == (file, "AQ==", None)
    await system.call("frontend/fileStorageV2:deleteFile", storageId=file)
    assert await system.call("frontend/fileStorageV2:getFile", storageId=file) is None
    with pytest.raises(DeveloperError, match="Unable to decode ID"):
        await system.call("frontend/fileStorageV2:getFile", storageId="nope")


async def test_files_are_deleted_all_or_none(system: System) -> None:
    first, second = store(system), store(system)
    await system.call("frontend/fileStorageV2:deleteFile", storageId=second)
    with pytest.raises(DeveloperError, match=f"Uncaught Error: storage id {second} not found"):
        await system.call("frontend/fileStorageV2:deleteFiles", storageIds=[first, second])
    assert await system.call("frontend/fileStorageV2:numFiles") == 1.0


async def test_only_ids_of_files_can_be_deleted(system: System) -> None:
    await system.add("t", {})
    (document,) = await system.call("frontend/listTableScan", table="t", limit=1.0)
    with pytest.raises(DeveloperError, match="Found ID"):
        await system.call("frontend/fileStorageV2:deleteFile", storageId=document["_id"])


async def test_uploads_go_to_the_component_that_was_asked(deployed: System) -> None:
    url = await deployed.call("frontend/fileStorageV2:generateUploadUrl", componentId="counterid")
    assert url == "http://cloud/api/storage/upload?token=counterid"
    assert await deployed.call("frontend/latestExport:canExportFileStorage") is True
