"""Every entry names the function that wrote it, although functions say nothing about themselves."""

import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Caller, Deployment

PUBLIC = {
    "query": ["orders:look", "shop/cart:show", "shop/admin/prices:show", "shop/admin/orders:look"],
    "mutation": [
        "orders:place",
        "orders:change",
        "shop/cart:save",
        "shop/cart:store",
        "shop/admin/prices:save",
        "shop/admin/orders:place",
    ],
    "action": ["orders:pay", "reports/render:pdf"],
}
INTERNAL = {
    "query": ["orders:inspect"],
    "mutation": ["orders:close", "shop/cart:reset", "shop/admin/prices:reset"],
    "action": ["orders:refund", "reports/render:png"],
}
LABELS = {
    name: f"{visibility} {kind} {name}"
    for visibility, functions in (("public", PUBLIC), ("internal", INTERNAL))
    for kind, names in functions.items()
    for name in names
}


def call(project: Deployment, name: str, text: str) -> str:
    """Calls one of the functions that only write an entry; internal ones as administrator."""
    visibility, kind, _ = LABELS[name].split()
    caller: Caller = project if visibility == "public" else project.admin
    functions = {"query": caller.query, "mutation": caller.mutation, "action": caller.action}
    label: str = functions[kind](name, text=text)
    return label


def entries(project: Deployment, module: str | None = None) -> list[tuple[str, str]]:
    found: list[dict[str, str]] = project.query("journal:entries", module=module)
    assert all(each.keys() == {"text", "label"} for each in found)
    return [(each["text"], each["label"]) for each in found]


@pytest.mark.parametrize("kind", ["query", "mutation", "action"])
def test_labels_name_the_function_that_calls(project: Deployment, kind: str) -> None:
    names = [name for name, label in LABELS.items() if label.split()[1] == kind]
    received = {name: call(project, name, "x") for name in names}
    assert received == {name: LABELS[name] for name in names}
    assert entries(project) == ([] if kind == "query" else [("x", LABELS[name]) for name in names])


def test_a_function_that_is_exported_twice_has_two_names(project: Deployment) -> None:
    names = ["shop/cart:store", "shop/cart:save", "shop/cart:store"]
    assert [call(project, name, "x") for name in names] == [LABELS[name] for name in names]
    assert [label for _, label in entries(project)] == [LABELS[name] for name in names]


def test_functions_that_other_functions_call_are_named_themselves(project: Deployment) -> None:
    everything, twice = "public action orders:everything", "internal mutation orders:twice"
    close, inspect, refund = (LABELS[f"orders:{name}"] for name in ("close", "inspect", "refund"))
    labels = project.action("orders:everything", text="y")
    assert labels == [everything, inspect, twice, close, inspect, twice, refund, everything]
    assert entries(project) == [("y", label) for label in labels if label != inspect]


def test_functions_that_the_scheduler_runs_are_named(project: Deployment) -> None:
    project.mutation("orders:closeLater", text="z")
    project.advance(minutes=3)
    assert entries(project) == [("z", LABELS["orders:close"]), ("z", LABELS["orders:refund"])]


def test_clients_on_sockets_see_the_same(project: Deployment) -> None:
    with project.clients(1) as (client,):
        assert client.mutation("shop/admin/orders:place", text="a") == LABELS["shop/admin/orders:place"]
        assert client.action("orders:pay", text="b") == LABELS["orders:pay"]
        assert client.subscribe("shop/admin/prices:show", text="c").value == LABELS["shop/admin/prices:show"]
        live = client.subscribe("journal:entries", module="orders")
        client.mutation("orders:change", text="d")
        live.wait_until(lambda found: len(found) == 2)
    assert [text for text, _ in entries(project)] == ["a", "b", "d"]


def test_a_failed_mutation_leaves_nothing_and_a_failed_action_what_it_wrote(project: Deployment) -> None:
    with project.fails("In vain"):
        project.mutation("orders:placeInVain", text="a")
    assert entries(project) == []
    with project.fails("In vain"):
        project.action("orders:payInVain", text="b")
    assert entries(project) == [("b", "public action orders:payInVain")]


def test_entries_of_one_module(project: Deployment) -> None:
    names = [name for name, label in LABELS.items() if label.split()[1] != "query"]
    for number, name in enumerate(names):
        call(project, name, str(number))
    everything = [(str(number), LABELS[name]) for number, name in enumerate(names)]
    assert entries(project) == everything
    modules = {name.split(":")[0] for name in names}
    assert len(modules) == 5
    for module in (*modules, "shop", "shop/admin", "order", "orders:", "", "ORDERS", "prices"):
        expected = [(text, label) for text, label in everything if label.split()[2].split(":")[0] == module]
        assert entries(project, module) == expected, module


def test_muted_functions_write_nothing(project: Deployment) -> None:
    muted = ["shop/cart:store", "orders:refund", "orders:nothing", "reports/render:pdf", "shop/admin/orders:look"]
    for name in (*muted, "shop/admin/prices:save"):
        for _ in range(2):
            assert project.mutation("journal:mute", name=name, isMuted=True) is None
    heard = ["shop/cart:save", "orders:place", "shop/admin/orders:place", "reports/render:png"]
    silent = ["shop/cart:store", "orders:refund", "reports/render:pdf", "shop/admin/prices:save"]
    for name in (*heard[:2], *silent, *heard[2:]):
        assert call(project, name, "x") == LABELS[name]
    assert call(project, "shop/admin/orders:look", "x") == LABELS["shop/admin/orders:look"]
    assert [label for _, label in entries(project)] == [LABELS[name] for name in heard]
    project.action("orders:everything", text="y")
    assert "orders:refund" not in {label.split()[2] for _, label in entries(project)}
    for _ in range(2):
        assert project.mutation("journal:mute", name="shop/cart:store", isMuted=False) is None
    call(project, "shop/cart:store", "z")
    assert entries(project)[-1] == ("z", LABELS["shop/cart:store"])
    call(project, "orders:refund", "z")
    assert entries(project)[-1] == ("z", LABELS["shop/cart:store"])
    assert project.mutation("journal:mute", name="shop/cart:store", isMuted=True) is None
    call(project, "shop/cart:store", "again")
    assert entries(project)[-1] == ("z", LABELS["shop/cart:store"])


def test_little_is_read(project: Deployment) -> None:
    for number in range(12):
        project.mutation("journal:mute", name=f"orders:muted{number}", isMuted=True)
        for name in ("orders:place", "shop/cart:save"):
            call(project, name, str(number))
    call(project, "shop/admin/prices:save", "x")
    for name in ("orders:place", "orders:close", "orders:pay", "orders:look"):
        with project.trace() as work:
            call(project, name, "y")
        assert work.documents_read <= 5, name
    with project.trace() as work:
        assert len(entries(project, "shop/admin/prices")) == 1
    assert work.documents_read <= 3


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_called_the_journal_is_right(project: Deployment, seed: int) -> None:
    chance, muted, expected = random.Random(seed), set[str](), list[tuple[str, str]]()
    names = [name for name in LABELS if not name.startswith("reports")]
    for number in range(40):
        name = chance.choice(names)
        if chance.random() < 0.3:
            is_muted = chance.random() < 0.6
            project.mutation("journal:mute", name=name, isMuted=is_muted)
            (muted.add if is_muted else muted.discard)(name)
        else:
            assert call(project, name, str(number)) == LABELS[name]
            if name not in muted and " query " not in LABELS[name]:
                expected.append((str(number), LABELS[name]))
    assert entries(project) == expected
    for module in ("orders", "shop/cart"):
        of_module = [each for each in expected if f" {module}:" in each[1]]
        assert entries(project, module) == of_module


def test_what_clients_can_call(project: Deployment) -> None:
    public = {name for name, spec in project.functions().items() if spec.is_public}
    given = {name for name, label in LABELS.items() if label.startswith("public")}
    given |= {f"orders:{name}" for name in ("placeInVain", "payInVain", "everything", "closeLater")}
    assert public == given | {"journal:entries", "journal:mute"}
    wrong: list[dict[str, Any]] = [{}, {"module": 1}, {"module": None, "name": "a"}]
    for each in wrong:
        with project.fails("ArgumentValidationError"):
            project.query("journal:entries", each)
    right = {"name": "a:b", "isMuted": True}
    for each in ({"name": 1}, {"isMuted": "yes"}, {"isMuted": None}, {"text": "a"}):
        with project.fails("ArgumentValidationError"):
            project.mutation("journal:mute", right | each)
    for name in right:
        with project.fails("ArgumentValidationError"):
            project.mutation("journal:mute", {name: right[name]})
