"""Lists, objects and maps, nested in each other."""

from typing import Any

from convex_evals.pipeline.grading.kit import (
    CallFailed,
    Deployment,
    Int64,
    assert_same,
    same_function_spec,
    same_schema,
)

MACROS = {"protein": 7.5, "fat": 10, "carbs": 30}
RECIPE: dict[str, Any] = {
    "title": "Pancakes",
    "tags": ["sweet", "breakfast", "sweet"],
    "ingredients": [{"name": "milk", "grams": 300}, {"name": "flour", "grams": 150.5}, {"name": "egg", "grams": 60}],
    "nutrition": {"calories": 227, "macros": MACROS},
}


def create(project: Deployment, **changes: Any) -> str:
    return str(project.mutation("index:create", {**RECIPE, **changes}))


def is_accepted(project: Deployment, changes: dict[str, Any]) -> bool:
    try:
        create(project, **changes)
    except CallFailed:
        return False
    return True


def test_the_schema_and_the_functions_have_the_described_types(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer)


def test_lists_and_objects_are_stored_as_given_and_ratings_start_empty(project: Deployment) -> None:
    recipe_id = create(project)
    bare_id = create(project, tags=[], ingredients=[])
    assert_same(project.get(recipe_id), {**RECIPE, "ratings": {}}, what="the recipe")
    assert_same(project.get(bare_id), {**RECIPE, "tags": [], "ingredients": [], "ratings": {}}, what="the bare recipe")


def test_a_rating_is_set_beside_those_of_other_users(project: Deployment) -> None:
    ada, ben = project.insert_many("users", [{"name": "Ada"}, {"name": "Ben"}])
    recipe_id, other_id = create(project), create(project)
    for user, rating in ((ada, 3), (ben, 4.5), (ada, 5)):
        assert project.mutation("index:rate", recipeId=recipe_id, userId=user, rating=rating) is None
    assert_same(project.get(recipe_id), {**RECIPE, "ratings": {ada: 5, ben: 4.5}}, what="the rated recipe")
    assert_same(project.get(other_id), {**RECIPE, "ratings": {}}, what="the other recipe")


def test_a_summary_adds_up_the_ingredients_and_averages_the_ratings(project: Deployment) -> None:
    ada, ben = project.insert_many("users", [{"name": "Ada"}, {"name": "Ben"}])
    recipe_id = project.insert("recipes", **RECIPE, ratings={ada: 4, ben: 1})
    assert project.query("index:summary", recipeId=recipe_id) == {
        "title": "Pancakes",
        "ingredientNames": ["milk", "flour", "egg"],
        "totalGrams": 510.5,
        "ratingCount": 2,
        "averageRating": 2.5,
    }
    rated_once = project.insert("recipes", **RECIPE, ratings={ada: 4})
    assert project.query("index:summary", recipeId=rated_once)["averageRating"] == 4


def test_a_recipe_without_ingredients_and_ratings_has_a_summary_too(project: Deployment) -> None:
    assert project.query("index:summary", recipeId=create(project, ingredients=[])) == {
        "title": "Pancakes",
        "ingredientNames": [],
        "totalGrams": 0,
        "ratingCount": 0,
        "averageRating": None,
    }


def test_a_recipe_that_is_gone_has_no_summary_and_cannot_be_rated(project: Deployment) -> None:
    ada = project.insert("users", name="Ada")
    recipe_id = create(project)
    project.delete("recipes", recipe_id)
    assert project.query("index:summary", recipeId=recipe_id) is None
    with project.fails():
        project.mutation("index:rate", recipeId=recipe_id, userId=ada, rating=1)


def test_values_of_another_shape_are_rejected(project: Deployment) -> None:
    wrong: list[dict[str, Any]] = [
        {"tags": "sweet"},
        {"tags": ["sweet", 1]},
        {"ingredients": [{"name": "milk"}]},
        {"ingredients": [{"name": "milk", "grams": 300, "unit": "g"}]},
        {"ingredients": [["milk", 300]]},
        {"nutrition": {"calories": 227}},
        {"nutrition": {"calories": Int64(227), "macros": MACROS}},
        {"nutrition": {"calories": 227, "macros": {**MACROS, "fiber": 1}}},
        {"nutrition": {"calories": 227, "macros": [7.5, 10, 30]}},
    ]
    assert [changes for changes in wrong if is_accepted(project, changes)] == []
    assert project.documents("recipes") == []


def test_only_ids_of_users_are_keys_of_ratings(project: Deployment) -> None:
    recipe_id = create(project)
    with project.fails():
        project.mutation("index:rate", recipeId=recipe_id, userId=recipe_id, rating=1)
    for key in ("Ada", recipe_id):
        with project.fails():
            project.insert("recipes", **RECIPE, ratings={key: 1})
