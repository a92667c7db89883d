"""Lint rules: which there are, and which are only a matter of taste."""

import re
from typing import Final

from convex_evals.pipeline import rules_for

OURS: Final = {name.rpartition("/")[2]: name for name in rules_for("src")}
"""The rules that answers are graded with: their full names by the short ones."""
TASTE: Final = frozenset(
    re.findall(
        r"\S+",
        """adjacent-overload-signatures array-bracket-spacing array-type arrow-body-style arrow-parens arrow-spacing
    ban-tslint-comment block-spacing brace-style button-has-type camelcase capitalized-comments
    class-literal-property-style class-methods-use-this comma-dangle comma-spacing comma-style complexity
    consistent-function-scoping consistent-generic-constructors consistent-indexed-object-style consistent-this
    consistent-type-assertions consistent-type-definitions consistent-type-exports consistent-type-imports curly
    default-case-last destructuring-assignment display-name dot-notation eol-last explicit-function-return-type
    explicit-length-check explicit-member-accessibility explicit-module-boundary-types exports-last extensions
    filename-case func-call-spacing func-name-matching func-names func-style function-component-definition
    group-exports grouped-accessor-pairs id-denylist id-length id-match import-order indent init-declarations
    jsx-boolean-value jsx-curly-brace-presence jsx-filename-extension jsx-fragments jsx-indent jsx-max-props-per-line
    jsx-no-useless-fragment jsx-one-expression-per-line jsx-props-no-spreading jsx-quotes jsx-sort-props
    jsx-wrap-multilines key-spacing keyword-spacing linebreak-style lines-around-comment lines-between-class-members
    logical-assignment-operators max-classes-per-file max-depth max-len max-lines max-lines-per-function
    max-nested-callbacks max-params max-statements member-delimiter-style member-ordering method-signature-style
    multiline-comment-style naming-convention new-cap newline-after-import newline-per-chained-call
    no-anonymous-default-export no-array-callback-reference no-array-constructor no-array-for-each no-array-reduce
    no-bitwise no-confusing-void-expression no-console no-continue no-default-export no-duplicates no-else-return
    no-empty-function no-empty-interface no-empty-object-type no-extra-boolean-cast no-extra-label no-extra-parens
    no-extra-semi no-extraneous-class no-implicit-coercion no-import-type-side-effects no-inferrable-types
    no-inline-comments no-label-var no-lone-blocks no-lonely-if no-magic-numbers no-meaningless-void-operator
    no-mixed-operators no-mixed-spaces-and-tabs no-multi-assign no-multi-spaces no-multiple-empty-lines
    no-named-as-default no-namespace no-negated-condition no-nested-ternary no-non-null-assertion no-null
    no-param-reassign no-plusplus no-redundant-type-constituents no-return-await no-shadow no-tabs no-ternary
    no-trailing-spaces no-undef no-undef-init no-undefined no-underscore-dangle no-unescaped-entities
    no-unnecessary-boolean-literal-compare no-unnecessary-parameter-property-assignment no-unnecessary-qualifier
    no-unnecessary-template-expression no-unnecessary-type-arguments no-unnecessary-type-assertion
    no-unnecessary-type-constraint no-unnecessary-type-conversion no-unnecessary-type-parameters no-unneeded-ternary
    no-use-before-define no-useless-computed-key no-useless-concat no-useless-constructor no-useless-empty-export
    no-useless-escape no-useless-rename no-useless-return no-var no-warning-comments non-nullable-type-assertion-style
    numeric-separators-style object-curly-newline object-curly-spacing object-shorthand one-var only-export-components
    operator-assignment operator-linebreak order padded-blocks padding-line-between-statements parameter-properties
    prefer-arrow-callback prefer-as-const prefer-const prefer-default-export prefer-destructuring
    prefer-enum-initializers prefer-exponentiation-operator prefer-find prefer-for-of prefer-function-type
    prefer-includes prefer-literal-enum-member prefer-module prefer-named-capture-group prefer-namespace-keyword
    prefer-node-protocol prefer-nullish-coalescing prefer-numeric-literals prefer-object-has-own prefer-object-spread
    prefer-optional-chain prefer-readonly prefer-readonly-parameter-types prefer-reduce-type-parameter
    prefer-regexp-exec prefer-rest-params prefer-return-this-type prefer-spread prefer-string-starts-ends-with
    prefer-template prefer-ternary prefer-top-level-await prefer-ts-expect-error prevent-abbreviations
    promise-function-async prop-types quote-props quotes react-in-jsx-scope require-await require-default-props
    require-unicode-regexp return-await self-closing-comp semi semi-spacing semi-style sort-imports sort-keys
    sort-type-constituents sort-vars space-before-blocks space-before-function-paren space-in-parens space-infix-ops
    spaced-comment triple-slash-reference type-annotation-spacing typedef unified-signatures
    use-unknown-in-catch-callback-variable vars-on-top wrap-iife yoda""",
    )
)
"""Breaking these changes nothing that a program does: the presets "stylistic" of typescript-eslint and those rules of
"strict" that only ask for another way to write the same, ESLint's suggestions and layout, and the like in plug-ins.
What is left over (`no-unused-vars`) may not either, but it is carelessness that people put down to the answer."""
STYLE: Final = frozenset({"@stylistic", "perfectionist", "prettier", "simple-import-sort"})
"""Plug-ins that have nothing else."""
_ANY: Final = re.compile(r"(?:^|/)no-(?:explicit-any|unsafe-[a-z-]+)$")
_LOOKS_LIKE_A_RULE: Final = re.compile(r"(?:no|prefer|require|consistent|explicit|restrict)(?:-[a-z]+)+")


def is_taste(rule: str) -> bool:
    """Whatever plug-in the rule comes from."""
    plug_in, _, name = rule.rpartition("/")
    return name in TASTE or plug_in.partition("/")[0] in STYLE


def is_about_any(rule: str) -> bool:
    return _ANY.search(rule) is not None


def is_rule(name: str) -> bool:
    """Whether a word is the short name of a rule, of whatever linter."""
    return name in OURS or name in TASTE or _LOOKS_LIKE_A_RULE.fullmatch(name) is not None
