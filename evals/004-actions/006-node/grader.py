"""Actions in the Node.js runtime, beside functions that cannot be there."""

import gzip
import hashlib
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Sources, assert_same, same_function_spec, same_schema

FUNCTIONS = ("compression:pack", "compression:unpack", "archives:list", "archives:save", "archives:find")
TEXTS = ["hello", "grün 🌱", "", "again and again " * 500]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def archive(name: str, text: str) -> dict[str, Any]:
    content = text.encode()
    return {"name": name, "data": gzip.compress(content, mtime=0), "size": len(content), "sha256": digest(text)}


@pytest.mark.parametrize("text", TEXTS, ids=["short", "not ASCII", "empty", "long"])
def test_a_text_is_compressed_and_saved(project: Deployment, text: str) -> None:
    packed = project.action("compression:pack", name="a", text=text)
    assert packed == {"size": len(text.encode()), "sha256": digest(text)}
    [stored] = project.documents("archives")
    assert gzip.decompress(stored["data"]) == text.encode()
    assert len(stored["data"]) < 200
    assert_same(stored, {**archive("a", text), "data": stored["data"]})


@pytest.mark.parametrize("text", TEXTS, ids=["short", "not ASCII", "empty", "long"])
def test_a_saved_text_is_unpacked(project: Deployment, text: str) -> None:
    project.insert_many("archives", [archive("other", "other"), archive("a", text)])
    assert project.action("compression:unpack", name="a") == text


def test_there_is_nothing_to_unpack_under_an_unknown_name(project: Deployment) -> None:
    project.insert("archives", archive("a", "hello"))
    assert project.action("compression:unpack", name="A") is None


def test_a_text_with_another_digest_is_corrupted(project: Deployment) -> None:
    project.insert("archives", {**archive("a", "hello"), "sha256": digest("hullo")})
    with project.fails(data={"code": "CORRUPTED"}):
        project.action("compression:unpack", name="a")


def test_packing_again_replaces_the_archive(project: Deployment) -> None:
    for name, text in (("a", "old"), ("b", "other"), ("a", "new and longer")):
        project.action("compression:pack", name=name, text=text)
    received = [{**stored, "data": gzip.decompress(stored["data"])} for stored in project.documents("archives")]
    expected = [
        {**archive("a", "new and longer"), "data": b"new and longer"},
        {**archive("b", "other"), "data": b"other"},
    ]
    assert_same(received, expected)


def test_archives_are_listed_by_name_without_their_data(project: Deployment) -> None:
    assert project.query("archives:list") == []
    names = ["pear", "apple", "fig", "Zebra"]
    project.insert_many("archives", [archive(name, name * 2) for name in names])
    expected = [{"name": name, "size": len(name) * 2, "sha256": digest(name * 2)} for name in sorted(names)]
    assert project.query("archives:list") == expected


def test_the_actions_leave_the_table_to_one_call_each(project: Deployment) -> None:
    project.insert_many("archives", [archive(f"archive {number}", "text") for number in range(50)])
    with project.trace() as work:
        project.action("compression:pack", name="archive 49", text="new")
        project.action("compression:unpack", name="archive 49")
    assert [call.function for call in work.nested_calls] == ["archives:save", "archives:find"]
    assert work.documents_read < 10


def test_the_internal_functions_save_and_find(project: Deployment) -> None:
    assert project.admin.query("archives:find", name="a") is None
    assert project.admin.mutation("archives:save", archive("a", "hello")) is None
    assert_same(project.admin.query("archives:find", name="a"), archive("a", "hello"))
    with project.fails("ArgumentValidationError"):
        project.admin.mutation("archives:save", {**archive("a", "hello"), "data": "hello"})


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)
    with project.fails("Could not find public function"):
        project.query("archives:find", name="a")


def test_the_actions_use_the_modules_of_node(files: Sources) -> None:
    imported = {each.source.removeprefix("node:") for each in files.module("convex/compression.ts").imports}
    assert {"crypto", "zlib"} <= imported
