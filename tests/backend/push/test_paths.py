import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.paths import canonical_module_path, check_definition_path


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("messages.js", "messages.js"),
        ("messages", "messages.js"),
        ("dir/sub/m.js", "dir/sub/m.js"),
        ("./m.js", "m.js"),
        ("_deps/L3MLRDXC.js", "_deps/L3MLRDXC.js"),
        ("auth.config.js", "auth.config.js"),
    ],
)
def test_module_paths_have_one_canonical_form(path: str, canonical: str) -> None:
    assert canonical_module_path(path) == canonical


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (
            "foo-bar.js",
            "Path component foo-bar.js can only contain alphanumeric characters, underscores, or periods.",
        ),
        ("", "Module path  doesn't have a filename."),
        ("m.ts", "Module path (m.ts) has an extension that isn't 'js'."),
        ("/m.js", "Module paths must be relative (/m.js is absolute)."),
        ("__/m.js", "Path component __ must have at least one alphanumeric character."),
        ("a" * 65, f"Path component is too long (65 > maximum 64): {'a' * 64}..."),
        ("../m.js", "Module path ../m.js must not contain '..'."),
        ("_system/m.js", "Modules under _system are reserved for the deployment itself."),
    ],
)
def test_a_path_that_no_module_can_have_is_refused_with_the_reason(path: str, reason: str) -> None:
    with pytest.raises(RequestError) as refusal:
        canonical_module_path(path)
    assert (refusal.value.status, refusal.value.code) == (400, "InvalidConfig")
    assert refusal.value.message == f"{path} is not a valid path to a Convex module. {reason}"


@pytest.mark.parametrize("path", ["counter", "../node_modules/@convex-dev/batch-worker/dist/component"])
def test_definition_paths_may_leave_the_functions_folder(path: str) -> None:
    assert check_definition_path(path) == path


@pytest.mark.parametrize("path", ["/abs", "a//b", "a\\b", "ü", "x" * 2049])
def test_other_definition_paths_are_refused(path: str) -> None:
    with pytest.raises(RequestError):
        check_definition_path(path)
