"""The pinned lint rules, once for both linters: real mistakes are errors, matters of taste are not checked."""

from typing import Final

Setting = str | list[object]

_CORE: Final = (
    "for-direction",
    "no-async-promise-executor",
    "no-class-assign",
    "no-compare-neg-zero",
    "no-cond-assign",
    "no-constant-binary-expression",
    "no-constant-condition",
    "no-debugger",
    "no-dupe-else-if",
    "no-duplicate-case",
    "no-empty-character-class",
    "no-empty-pattern",
    "no-ex-assign",
    "no-fallthrough",
    "no-invalid-regexp",
    "no-loss-of-precision",
    "no-self-assign",
    "no-shadow-restricted-names",
    "no-sparse-arrays",
    "no-unsafe-finally",
    "no-unsafe-negation",
    "no-useless-backreference",
    "require-yield",
    "use-isnan",
    "valid-typeof",
)
_TYPESCRIPT: Final = (
    "await-thenable",
    "ban-ts-comment",
    "no-array-delete",
    "no-base-to-string",
    "no-duplicate-enum-values",
    "no-explicit-any",
    "no-extra-non-null-assertion",
    "no-floating-promises",
    "no-for-in-array",
    "no-implied-eval",
    "no-misused-new",
    "no-misused-promises",
    "no-non-null-asserted-optional-chain",
    "no-require-imports",
    "no-unsafe-argument",
    "no-unsafe-assignment",
    "no-unsafe-call",
    "no-unsafe-declaration-merging",
    "no-unsafe-enum-comparison",
    "no-unsafe-function-type",
    "no-unsafe-member-access",
    "no-unsafe-return",
    "no-unsafe-unary-minus",
    "no-unused-expressions",
    "only-throw-error",
    "prefer-promise-reject-errors",
    "restrict-plus-operands",
    "unbound-method",
)
_REACT: Final = ("rules-of-hooks",)
# `onClick={async () => …}` is how React code is written.
_HANDLERS_MAY_BE_ASYNC: Final[Setting] = ["error", {"checksVoidReturn": {"attributes": False}}]

TYPESCRIPT: Final = "@typescript-eslint"
REACT: Final = "react-hooks"
_OXLINT_PLUGINS: Final = {TYPESCRIPT: "typescript", REACT: "react"}


def rules_for(area: str) -> dict[str, Setting]:
    """By the names that ESLint knows them by. `area` is convex or src."""
    rules: dict[str, Setting] = dict.fromkeys(_CORE, "error")
    rules.update({f"{TYPESCRIPT}/{name}": "error" for name in _TYPESCRIPT})
    if area == "src":
        rules.update({f"{REACT}/{name}": "error" for name in _REACT})
        rules[f"{TYPESCRIPT}/no-misused-promises"] = _HANDLERS_MAY_BE_ASYNC
    return rules


def oxlint_config(area: str) -> dict[str, object]:
    """The same rules for oxlint, and none of its own."""
    plugins = ["typescript", "react"] if area == "src" else ["typescript"]
    rules = {_oxlint_name(name): setting for name, setting in rules_for(area).items()}
    return {"plugins": plugins, "categories": {"correctness": "off"}, "rules": rules}


def _oxlint_name(name: str) -> str:
    plugin, slash, rule = name.rpartition("/")
    return f"{_OXLINT_PLUGINS[plugin]}/{rule}" if slash else name


def eslint_name(code: str) -> str:
    """`typescript(no-explicit-any)`, as oxlint reports it, is `@typescript-eslint/no-explicit-any`."""
    rule = code.partition("(")[2].removesuffix(")")
    return _FULL_NAMES.get(rule, code) or "syntax"


_FULL_NAMES: Final = {name.rpartition("/")[2]: name for name in rules_for("src")}
