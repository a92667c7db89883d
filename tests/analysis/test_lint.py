import pytest

from convex_evals.analysis.lint import OURS, is_taste


@pytest.mark.parametrize(
    "rule",
    [
        "prefer-const",
        "@typescript-eslint/no-confusing-void-expression",
        "@stylistic/semi",
        "import/order",
        "no-lonely-if",
    ],
)
def test_matters_of_style(rule: str) -> None:
    assert is_taste(rule)


@pytest.mark.parametrize(
    "rule",
    ["no-unused-vars", "@typescript-eslint/switch-exhaustiveness-check", "react/jsx-key", "eqeqeq", "no-fallthrough"],
)
def test_mistakes(rule: str) -> None:
    assert not is_taste(rule)


def test_none_of_our_own_rules_is_a_matter_of_style() -> None:
    assert not [rule for rule in OURS.values() if is_taste(rule)]
