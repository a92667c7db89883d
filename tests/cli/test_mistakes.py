import subprocess
from collections.abc import Callable

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["show", "x", "--log", "test"],
            "--log must be filesystem, install, deploy, tsc, eslint or tests, but it is 'test'; did you mean tests?",
        ),
        (["status", "--limit", "many"], "--limit must be a whole number of at least 1, but it is 'many'."),
        (["status", "-n", "0"], "--limit must be a whole number of at least 1, but it is '0'."),
        (["backend", "--port", "70000"], "--port must be a whole number from 0 to 65535, but it is '70000'."),
        (["run", "--budget", "much"], "--budget must be a number of at least 0, but it is 'much'."),
        (["run", "--trails", "2"], "There is no option --trails; did you mean --trials?"),
        (["run", "--trials", "1000000"], "--trials must be a whole number from 1 to 1000, but it is '1000000'."),
        (["validate", "--trials", "1001"], "--trials must be a whole number from 1 to 1000, but it is '1001'."),
        (["demo", "-c", "querys"], "There is no category 'querys' in this suite; did you mean queries?"),
        (["benchmark", "diff", "v1"], "The argument NEWER is missing."),
        (["analyze"], "Name the run to explain, as in `convex-evals analyze latest`;"),
        (["status", "--limit"], "--limit must be followed by a value."),
        (["status", "--json=x"], "--json takes no value."),
        (["status", "a", "b"], "Nothing more was expected, but there is a b."),
        (["runs"], "A command is missing: hide, unhide, label or delete."),
        (["runs", "lable"], "There is no command lable; did you mean label?"),
        (["models", "check"], "The argument SLUG is missing."),
        (["analyze", "label", "x", "y", "model_falt", "--why", "z"], "CLASS must be MODEL_FAULT, OVERLY_STRICT,"),
        (["analyze", "label", "x", "y", "model_fault"], "The option --why is missing."),
    ],
)
def test_a_mistake_is_one_sentence_of_our_own(convex_evals: Command, arguments: list[str], sentence: str) -> None:
    result = convex_evals(*arguments)
    assert result.returncode == 2
    assert not result.stdout
    assert result.stderr.startswith(f"convex-evals: {sentence}")
    assert result.stderr.count("\n") == 1


def test_classes_may_be_written_in_any_case(convex_evals: Command) -> None:
    result = convex_evals("analyze", "label", "x", "y", "known_gap", "--why", "z")
    assert "There are no scores in" in result.stderr
