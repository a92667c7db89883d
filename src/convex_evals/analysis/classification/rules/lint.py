"""Lint rules that are about taste."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.rule import first_words
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.wording import listed

# Breaking these changes nothing that a program does.
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
    no-unused-vars no-use-before-define no-useless-constructor no-useless-return no-var object-shorthand one-var order
    padding-line-between-statements prefer-arrow-callback prefer-const prefer-destructuring prefer-for-of
    prefer-function-type prefer-nullish-coalescing prefer-optional-chain prefer-readonly prefer-template prop-types
    quote-props quotes react-in-jsx-scope require-await semi sort-imports sort-keys space-before-function-paren
    spaced-comment unified-signatures""",
    )
)


def lint_of_taste(evidence: Evidence) -> Classification | None:
    """Only rules of taste were broken, in code that is otherwise fine."""
    rules = tuple(dict.fromkeys(each.name for each in evidence.failed_diagnostics if each.name))
    if evidence.failed_step != "eslint" or not rules or not all(is_taste(rule) for rule in rules):
        return None
    if evidence.counterfactuals.passes_without_lint is False:
        return None
    return Classification(
        "OVERLY_STRICT",
        0.75,
        f"Only rules of taste were broken: {listed(rules)}.",
        f"The linter complains about nothing but {listed(rules)}, which changes nothing that the program does. "
        f"The task asks for working code, not for this style.",
        first_words(evidence),
        "lint_of_taste",
    )


def is_taste(rule: str) -> bool:
    """Whatever plug-in the rule comes from."""
    return rule.rpartition("/")[2] in TASTE
