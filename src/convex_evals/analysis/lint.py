"""Lint rules: which there are, and which are only a matter of taste."""

import re
from typing import Final

from convex_evals.pipeline import rules_for

OURS: Final = {name.rpartition("/")[2]: name for name in rules_for("src")}
"""The rules that answers are graded with: their full names by the short ones."""
TASTE: Final = frozenset(
    re.findall(
        r"\S+",
        """array-type arrow-body-style arrow-parens camelcase comma-dangle consistent-indexed-object-style
    consistent-type-definitions consistent-type-imports curly dot-notation eol-last explicit-function-return-type
    explicit-module-boundary-types func-style id-length import-order indent jsx-quotes max-len max-lines
    member-ordering method-signature-style naming-convention newline-per-chained-call no-console no-else-return
    no-empty-function no-empty-interface no-empty-object-type no-inferrable-types no-magic-numbers no-multi-spaces
    no-multiple-empty-lines no-negated-condition no-nested-ternary no-non-null-assertion no-plusplus no-shadow
    no-ternary no-trailing-spaces no-undef no-underscore-dangle no-unescaped-entities no-unnecessary-type-assertion
    no-use-before-define no-useless-constructor no-useless-return no-var object-shorthand one-var
    order padding-line-between-statements prefer-arrow-callback prefer-const prefer-destructuring prefer-for-of
    prefer-function-type prefer-nullish-coalescing prefer-optional-chain prefer-readonly prefer-template
    promise-function-async prop-types quote-props quotes react-in-jsx-scope require-await semi sort-imports
    sort-keys space-before-function-paren spaced-comment unified-signatures""",
    )
)
"""Breaking these changes nothing that a program does. What is left over (`no-unused-vars`) does not either, but it is
carelessness that people put down to the answer."""
_ANY: Final = re.compile(r"(?:^|/)no-(?:explicit-any|unsafe-[a-z-]+)$")
_LOOKS_LIKE_A_RULE: Final = re.compile(r"(?:no|prefer|require|consistent|explicit|restrict)(?:-[a-z]+)+")


def is_taste(rule: str) -> bool:
    """Whatever plug-in the rule comes from."""
    return rule.rpartition("/")[2] in TASTE


def is_about_any(rule: str) -> bool:
    return _ANY.search(rule) is not None


def is_rule(name: str) -> bool:
    """Whether a word is the short name of a rule, of whatever linter."""
    return name in OURS or name in TASTE or _LOOKS_LIKE_A_RULE.fullmatch(name) is not None
