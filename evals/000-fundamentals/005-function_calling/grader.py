"""Functions that call functions: in a mutation as a part that can fail alone, in an action as separate transactions."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, Sources, same_function_spec, same_schema

Box = dict[str, Any]
FUNCTIONS = ("index:add", "index:total", "index:addEach", "index:addAndWeigh")


def box(label: str, weight: float) -> Box:
    return {"label": label, "weight": weight}


def stored(project: Deployment) -> list[tuple[str, float]]:
    return [(each["label"], each["weight"]) for each in project.documents("boxes")]


def test_adding_stores_a_box_unless_its_label_becomes_too_heavy(project: Deployment) -> None:
    first = project.admin.mutation("index:add", box("a", 60))
    assert [each["_id"] for each in project.documents("boxes")] == [first]
    project.admin.mutation("index:add", box("a", 40))
    project.admin.mutation("index:add", box("b", 100))
    with project.fails():
        project.admin.mutation("index:add", box("a", 0.5))
    assert stored(project) == [("a", 60), ("a", 40), ("b", 100)]


def test_the_total_is_the_weight_of_one_label(project: Deployment) -> None:
    assert project.admin.query("index:total", label="a") == 0
    project.insert_many("boxes", [box("a", 1.5), box("b", 4), box("a", 2)])
    assert project.admin.query("index:total", label="a") == 3.5


def test_only_boxes_of_one_label_are_read(project: Deployment) -> None:
    project.insert_many("boxes", [box("a", 1), *(box("b", 1) for _ in range(50))])
    with project.trace() as work:
        project.admin.mutation("index:add", box("a", 1))
        project.admin.query("index:total", label="a")
    assert work.documents_read < 10


def test_boxes_are_added_in_order_and_refused_ones_leave_nothing_behind(project: Deployment) -> None:
    boxes = [box("a", 70), box("a", 31), box("b", 101), box("a", 30), box("a", 1), box("b", 5)]
    assert project.mutation("index:addEach", boxes=boxes) == 3
    assert stored(project) == [("a", 70), ("a", 30), ("b", 5)]
    assert project.mutation("index:addEach", boxes=[box("a", 1), box("a", 2)]) == 0
    assert project.mutation("index:addEach", boxes=[]) == 0
    assert stored(project) == [("a", 70), ("a", 30), ("b", 5)]


def test_the_mutation_calls_add_as_a_function(files: Sources) -> None:
    index = files.module("convex/index.ts")
    in_the_action = index.export("addAndWeigh").calls_of("runMutation")
    assert len(index.calls_of("runMutation")) > len(in_the_action), "addEach must call add, not share its code"


def test_the_action_adds_a_box_and_returns_the_new_total(project: Deployment) -> None:
    project.insert_many("boxes", [box("a", 10), box("b", 50)])
    assert project.action("index:addAndWeigh", box("a", 20)) == 30
    assert stored(project) == [("a", 10), ("b", 50), ("a", 20)]


def test_the_action_calls_add_and_then_total_once_each(project: Deployment) -> None:
    with project.trace() as work:
        project.action("index:addAndWeigh", box("a", 20))
    assert [call.function for call in work.nested_calls] == ["index:add", "index:total"]


def test_the_action_fails_with_add_and_does_not_call_total(project: Deployment) -> None:
    with project.trace() as work, project.fails():
        project.action("index:addAndWeigh", box("a", 101))
    assert work.calls_of("index:total") == []
    assert stored(project) == []


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)


def test_clients_can_call_neither_add_nor_total(project: Deployment) -> None:
    with project.fails("Could not find public function"):
        project.mutation("index:add", box("a", 1))
    with project.fails("Could not find public function"):
        project.query("index:total", label="a")
    assert stored(project) == []
