import pytest

from convex_evals.cli.menu.wishes import Scope, Wishes


@pytest.mark.parametrize(
    ("wishes", "command"),
    [
        (Wishes(["reference"]), "run -m reference"),
        (Wishes(["a/b", "reference"], trials=3), "run -m a/b -m reference --trials 3"),
        (Wishes(["a/b"], scope=Scope(categories=["000-x", "001-y"])), "run -m a/b -c 000-x -c 001-y"),
        (Wishes(["a/b"], scope=Scope(names=["000-x/000-y"])), "run -m a/b --name 000-x/000-y"),
        (Wishes(["a/b"], scope=Scope(failed=True)), "run -m a/b --failed"),
        (Wishes(["local/m"], base_url="http://h/v1"), "run -m local/m --base-url http://h/v1"),
        (Wishes(["local/a b"], experiment="agents_md"), "run -m 'local/a b' -e agents_md"),
    ],
)
def test_wishes_are_a_command_line_that_says_the_same(wishes: Wishes, command: str) -> None:
    assert wishes.command == f"convex-evals {command}"
    asked = wishes.asked()
    scope = wishes.scope
    assert (asked.models, asked.categories, asked.names) == (wishes.models, list(scope.categories), list(scope.names))
    assert (asked.failed, asked.trials, asked.base_url) == (wishes.scope.failed, wishes.trials, wishes.base_url)
