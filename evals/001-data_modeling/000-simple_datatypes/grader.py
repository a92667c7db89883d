"""One field of each simple type, and arithmetic with 64-bit integers."""

from typing import Any

from convex_evals.pipeline.grading.kit import (
    CallFailed,
    Deployment,
    Int64,
    assert_same,
    same_function_spec,
    same_schema,
)

DEVICE: dict[str, Any] = {
    "name": "lamp",
    "battery": 0.75,
    "bytesSent": Int64(2**53 + 1),
    "isOnline": True,
    "publicKey": b"\x00\x01\xfe\xff",
    "lastError": None,
}


def register(project: Deployment, **changes: Any) -> str:
    return str(project.mutation("index:register", {**DEVICE, **changes}))


def is_accepted(project: Deployment, device: dict[str, Any]) -> bool:
    try:
        project.mutation("index:register", device)
    except CallFailed:
        return False
    return True


def test_the_schema_and_the_functions_have_the_described_types(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer)


def test_a_device_comes_back_with_every_value_and_type_unchanged(project: Deployment) -> None:
    other: dict[str, Any] = {
        "name": "",
        "battery": -1e300,
        "bytesSent": Int64(-(2**63)),
        "isOnline": False,
        "publicKey": b"",
        "lastError": None,
    }
    for device in (DEVICE, other):
        device_id = register(project, **device)
        received = project.query("index:get", id=device_id)
        assert_same(received, device, what="the device")
        assert received == project.get(device_id), "get must return the stored document, with its system fields"


def test_a_device_that_is_gone_is_null(project: Deployment) -> None:
    device_id = register(project)
    project.delete("devices", device_id)
    assert project.query("index:get", id=device_id) is None


def test_traffic_is_added_exactly_and_nothing_else_changes(project: Deployment) -> None:
    device_id, untouched = register(project), register(project, name="other")
    assert project.mutation("index:addTraffic", id=device_id, bytes=Int64(2**53 + 2)) == Int64(2**54 + 3)
    assert project.mutation("index:addTraffic", id=device_id, bytes=Int64(-4)) == Int64(2**54 - 1)
    assert_same(project.get(device_id), {**DEVICE, "bytesSent": Int64(2**54 - 1)}, what="the device")
    assert_same(project.get(untouched), {**DEVICE, "name": "other"}, what="another device")


def test_traffic_of_a_device_that_is_gone_is_an_error(project: Deployment) -> None:
    device_id = register(project)
    project.delete("devices", device_id)
    with project.fails():
        project.mutation("index:addTraffic", id=device_id, bytes=Int64(1))
    assert project.documents("devices") == []


def test_values_of_other_types_and_missing_or_unknown_fields_are_rejected(project: Deployment) -> None:
    values: dict[str, list[Any]] = {
        "name": [1, None],
        "battery": [Int64(1), "0.75", None],
        "bytesSent": [1, "1", None],
        "isOnline": [1, "true", None],
        "publicKey": ["AAECAw==", [0, 1], None],
        "lastError": ["", False, 0],
        "color": ["red"],
    }
    wrong = [{**DEVICE, field: value} for field, others in values.items() for value in others]
    wrong += [{name: value for name, value in DEVICE.items() if name != missing} for missing in DEVICE]
    assert [device for device in wrong if is_accepted(project, device)] == []
    assert project.documents("devices") == []
