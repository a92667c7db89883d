import pytest

from convex_evals.cli.menu.selection import MenuSelection, Scope


@pytest.mark.parametrize(
    ("chosen", "command"),
    [
        (MenuSelection(["reference"]), "run -m reference"),
        (MenuSelection(["a/b", "reference"], trials=3), "run -m a/b -m reference --trials 3"),
        (MenuSelection(["a/b"], scope=Scope(categories=["000-x", "001-y"])), "run -m a/b -c 000-x -c 001-y"),
        (MenuSelection(["a/b"], scope=Scope(names=["000-x/000-y"])), "run -m a/b --name 000-x/000-y"),
        (MenuSelection(["a/b"], scope=Scope(failed=True)), "run -m a/b --failed"),
        (MenuSelection(["local/m"], base_url="http://h/v1"), "run -m local/m --base-url http://h/v1"),
        (MenuSelection(["local/a b"], experiment="agents_md"), "run -m 'local/a b' -e agents_md"),
    ],
)
def test_what_was_chosen_is_a_command_line_that_says_the_same(chosen: MenuSelection, command: str) -> None:
    assert chosen.command == f"convex-evals {command}"
    options = chosen.options()
    scope = chosen.scope
    assert (options.models, options.categories, options.names) == (chosen.models, [*scope.categories], [*scope.names])
    assert (options.failed, options.trials, options.base_url) == (scope.failed, chosen.trials, chosen.base_url)
