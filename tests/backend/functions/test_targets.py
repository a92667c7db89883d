import pytest

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.errors import RequestError
from convex_evals.backend.functions.targets import is_callable, is_system, parse_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("messages:list", FunctionPath("messages.js", "list")),
        ("messages.js:list", FunctionPath("messages.js", "list")),
        ("dir/messages:list", FunctionPath("dir/messages.js", "list")),
        ("messages", FunctionPath("messages.js", "default")),
        ("_system/frontend/tableSize", FunctionPath("_system/frontend/tableSize.js", "default")),
    ],
)
def test_a_path_names_a_module_and_an_export(text: str, expected: FunctionPath) -> None:
    assert parse_path(text) == expected


def test_a_path_may_be_inside_a_component() -> None:
    assert parse_path("public:get", "outer/inner") == FunctionPath("public.js", "get", "outer/inner")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "foo-bar:list",
            "Path component foo-bar can only contain alphanumeric characters, underscores, or periods.",
        ),
        ("messages:li st", "Identifier li st has invalid character ' ': Identifiers can only contain alphanumeric"),
        ("messages:1a", "Invalid first character '1' in 1a: Identifiers must start with an alphabetic character or"),
        ("messages.ts:list", "Module path (messages.ts) has an extension that isn't 'js'."),
        ("/messages:list", "Module paths must be relative (/messages is absolute)."),
        ("", "Module path  doesn't have a filename."),
    ],
)
def test_a_path_that_names_nothing_is_refused(text: str, why: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse_path(text)
    assert (refused.value.status, refused.value.code) == (400, "BadConvexFunctionIdentifier")
    assert refused.value.message.startswith(f"{text} is not a valid path to a Convex function. {why}")


def test_system_functions_and_shared_chunks_are_told_apart() -> None:
    assert is_system(parse_path("_system/frontend/tableSize"))
    assert not is_system(parse_path("messages:list"))
    assert not is_callable(parse_path("_deps/chunk:list"))
    assert is_callable(parse_path("deps/chunk:list"))
