"""Quotas in bytes, exactly as Convex counts them."""

import math
import random
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, Int64, at_once

QUOTA = 4096
SYSTEM_FIELDS = len("_id") + 1 + 2 + 32 + len("_creationTime") + 1 + 9
TEXTS = ["", "a", "plain text"]
TEXTS += [
    "caf\u00e9",
    "\u00df\u00fc",
    "\u20ac 5",
    "\u65e5\u672c\u8a9e",
    "\U0001f389",
    "a\U0001f9d1\u200d\U0001f680z",
    "\u07ff\u0800\uffff",
    "\x00\n",
]
VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "false": False,
    "zero": 0,
    "a fraction": 1.5,
    "minus zero": -0.0,
    "infinity": math.inf,
    "not a number": math.nan,
    "a large number": 2**53,
    "a bigint": Int64(5),
    "the largest bigint": Int64(2**63 - 1),
    "a negative bigint": Int64(-1),
    "no bytes": b"",
    "bytes": bytes(range(256)),
    "an empty array": [],
    "an empty object": {},
    "an array": [1, Int64(1), "1", b"1", None, True, [], {}],
    "nested arrays": [[[[[]]]], [[1]]],
    "an object": {"a": 1, "long_name_of_a_field": Int64(2), "c": "\u20ac"},
    "names with other characters": {"with space": 1, "a-b.c": {"": None}, "~": b"~"},
    "nested objects": {"a": {"b": {"c": {"d": [{"e": "f"}]}}}},
    "a long text": "x" * 1200,
    "a long text in another script": "\u65e5\u672c" * 300,
    "long text with emoji": "\U0001f389x" * 400,
    "long bytes": b"\xff" * 2000,
    "many small ones": [None] * 300,
    "many booleans": [True, False] * 100,
    "many numbers": list(range(200)),
    "many bigints": [Int64(number) for number in range(200)],
    **{f"text {number}": text for number, text in enumerate(TEXTS)},
}


def size_of(value: Any) -> int:
    match value:
        case None | bool():
            return 1
        case Int64() | int() | float():
            return 9
        case str():
            return 2 + len(value.encode())
        case bytes():
            return 2 + len(value)
        case list():
            return 2 + sum(map(size_of, value))
    return 2 + sum(len(name) + 1 + size_of(each) for name, each in value.items())


def entry_size(entry: dict[str, Any]) -> int:
    return size_of(entry) + SYSTEM_FIELDS


def entry(owner: str, key: str, value: Any, note: str | None = None) -> dict[str, Any]:
    return {"owner": owner, "key": key, "value": value} | ({} if note is None else {"note": note})


def filler(owner: str, key: str, size: int) -> dict[str, Any]:
    """An entry of exactly this size."""
    made = entry(owner, key, "x" * (size - entry_size(entry(owner, key, ""))))
    assert entry_size(made) == size
    return made


def stored(project: Deployment) -> list[dict[str, Any]]:
    rows = [{name: row[name] for name in row if not name.startswith("_")} for row in project.documents("entries")]
    return sorted(rows, key=lambda row: (row["owner"], row["key"]))


def test_the_example_of_the_task(project: Deployment) -> None:
    assert project.query("store:preview", entry("ada", "k", 5)) == {"size": 96, "fits": True}
    assert project.query("store:used", owner="ada") == 0
    assert project.mutation("store:put", entry("ada", "k", 5)) == 96
    assert project.query("store:used", owner="ada") == 96
    assert stored(project) == [entry("ada", "k", 5)]
    assert project.mutation("store:remove", owner="ada", key="k") == 0
    assert project.mutation("store:remove", owner="ada", key="k") == 0
    assert stored(project) == []


def test_every_value_has_its_exact_size(project: Deployment) -> None:
    for name, value in VALUES.items():
        wanted, noted = entry("o", "k", value), entry("o", "k", value, "\u00e9")
        assert project.query("store:preview", wanted) == {"size": entry_size(wanted), "fits": True}, name
        assert project.mutation("store:put", wanted) == entry_size(wanted), name
        assert project.mutation("store:put", noted) == entry_size(noted), name
        assert project.mutation("store:put", wanted) == entry_size(wanted), name
        assert project.mutation("store:remove", owner="o", key="k") == 0, name


def test_owners_keys_and_notes_count_in_bytes(project: Deployment) -> None:
    for text in TEXTS:
        wanted = entry(text, text, text, text)
        assert project.query("store:preview", wanted)["size"] == entry_size(wanted)
        assert project.mutation("store:put", wanted) == entry_size(wanted)
        assert project.mutation("store:put", wanted) == entry_size(wanted)
        assert project.query("store:used", owner=text) == entry_size(wanted)
    assert stored(project) == [entry(text, text, text, text) for text in sorted(TEXTS)]


@pytest.mark.parametrize(
    "value",
    [None, Int64(1), "\U0001f389" * 50, b"\x00" * 77, {"a": [[], {}]}, [True, 0.5]],
    ids=["null", "bigint", "text", "bytes", "object", "array"],
)
def test_the_quota_is_exact(project: Deployment, value: Any) -> None:
    small = entry("o", "small", value)
    size = entry_size(small)
    rest = QUOTA - size
    assert project.mutation("store:put", filler("o", "big", rest)) == rest
    assert project.query("store:preview", small) == {"size": size, "fits": True}
    assert project.mutation("store:put", filler("o", "big", rest + 1)) == rest + 1
    assert project.query("store:preview", small) == {"size": size, "fits": False}
    with project.fails(data={"code": "QUOTA", "size": size, "free": size - 1}):
        project.mutation("store:put", small)
    assert project.query("store:used", owner="o") == rest + 1
    assert stored(project) == [filler("o", "big", rest + 1)]
    assert project.mutation("store:put", filler("o", "big", rest)) == rest
    assert project.mutation("store:put", small) == QUOTA
    with project.fails(data={"code": "QUOTA", "size": rest + 1, "free": rest}):
        project.mutation("store:put", filler("o", "big", rest + 1))
    assert project.mutation("store:put", small) == QUOTA
    assert stored(project) == [filler("o", "big", rest), small]
    assert project.query("store:preview", filler("p", "big", QUOTA)) == {"size": QUOTA, "fits": True}
    assert project.mutation("store:put", filler("p", "big", QUOTA)) == QUOTA
    with project.fails(data={"code": "QUOTA", "size": QUOTA + 1, "free": QUOTA}):
        project.mutation("store:put", filler("q", "big", QUOTA + 1))
    assert project.mutation("store:remove", owner="o", key="big") == size


def any_value(chance: random.Random, depth: int = 0) -> Any:
    kinds = ["null", "bool", "number", "bigint", "text", "bytes", "array", "object"]
    match chance.choice(kinds[: 6 if depth > 3 else 8]):
        case "null":
            return None
        case "bool":
            return chance.random() < 0.5
        case "number":
            return chance.choice([0, -1, 0.1, 1e300, chance.randrange(2**40)])
        case "bigint":
            return Int64(chance.randrange(-(2**63), 2**63))
        case "text":
            return "".join(chance.choice("abc \u00e9\u20ac\u65e5\U0001f389") for _ in range(chance.randrange(60)))
        case "bytes":
            return chance.randbytes(chance.randrange(120))
        case "array":
            return [any_value(chance, depth + 1) for _ in range(chance.randrange(8))]
    names = chance.sample(["a", "b", "name", "a longer name", "x_y", "Z9"], chance.randrange(6))
    return {name: any_value(chance, depth + 1) for name in names}


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_stored_the_bytes_are_exact(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    truth: dict[tuple[str, str], dict[str, Any]] = {}

    def used(owner: str, without: str | None = None) -> int:
        return sum(entry_size(each) for (o, key), each in truth.items() if o == owner and key != without)

    for step in range(40):
        owner, key = chance.choice(["ada", "\u00e9va"]), chance.choice(["a", "b", "\u20ac", "key"])
        free = QUOTA - used(owner, key)
        wanted = entry(owner, key, any_value(chance), chance.choice([None, "", "\U0001f389 note"]))
        if chance.random() < 0.35 and free > 300:  # up to the very last byte, or one more
            wanted = entry(owner, key, [wanted["value"], ""])
            missing = free + chance.choice([0, 0, 1]) - entry_size(wanted)
            wanted = entry(owner, key, [wanted["value"][0], "y" * max(0, missing)])
        size = entry_size(wanted)
        if chance.random() < 0.2:
            truth.pop((owner, key), None)
            assert project.mutation("store:remove", owner=owner, key=key) == used(owner), f"step {step}"
            continue
        if chance.random() < 0.5:
            assert project.query("store:preview", wanted) == {"size": size, "fits": size <= free}, f"step {step}"
        if size <= free:
            truth[owner, key] = wanted
            assert project.mutation("store:put", wanted) == used(owner), f"step {step}: {wanted}"
        else:
            with project.fails(data={"code": "QUOTA", "size": size, "free": free}):
                project.mutation("store:put", wanted)
        assert project.query("store:used", owner=owner) == used(owner), f"step {step}"
    assert stored(project) == [truth[each] for each in sorted(truth)]


def test_clients_that_write_at_once_stay_within_the_quota(project: Deployment) -> None:
    with project.clients(6) as clients:
        results = at_once(
            [
                partial(client.mutation, "store:put", filler("o", f"k{number}", QUOTA // 4))
                for number, client in enumerate(clients)
            ]
        )
    assert len([result for result in results if isinstance(result, CallFailed)]) == 2
    assert project.query("store:used", owner="o") == QUOTA == sum(map(entry_size, stored(project)))


def test_calls_read_and_write_few_documents(project: Deployment) -> None:
    for number in range(40):
        project.mutation("store:put", entry("o", f"k{number}", None))
    for number in range(15):
        project.mutation("store:put", entry(f"p{number}", "k1", None))
    calls = [
        partial(project.mutation, "store:put", entry("o", "k1", 1)),
        partial(project.mutation, "store:put", entry("o", "new", 1)),
        partial(project.mutation, "store:remove", owner="o", key="k2"),
        partial(project.query, "store:preview", entry("o", "k3", 1)),
        partial(project.query, "store:used", owner="o"),
    ]
    for call in calls:
        with project.trace() as work:
            call()
        assert max(work.documents_read, work.documents_written) <= 10, call.args


def test_clients_can_call_four_functions_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    kinds = {"put": "mutation", "remove": "mutation", "preview": "query", "used": "query"}
    assert public == {f"store:{name}": kind for name, kind in kinds.items()}
    right = entry("o", "k", 1, "n")
    wrong: list[dict[str, Any]] = [right | each for each in ({"owner": 1}, {"key": 1}, {"note": 1}, {"note": None})]
    wrong += [{name: right[name] for name in right if name != missing} for missing in ("owner", "key")]
    for each in [*wrong, right | {"more": 1}]:
        with project.fails("ArgumentValidationError"):
            project.mutation("store:put", each)
        with project.fails("ArgumentValidationError"):
            project.query("store:preview", each)
    for each in ({"owner": 1, "key": "k"}, {"owner": "o", "key": 1}, {"owner": "o"}, {"key": "k"}):
        with project.fails("ArgumentValidationError"):
            project.mutation("store:remove", each)
    for each in ({"owner": 1}, {}):
        with project.fails("ArgumentValidationError"):
            project.query("store:used", each)
