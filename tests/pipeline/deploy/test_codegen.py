"""Generated code for other modules than the one the CLI was asked about."""

import pytest

from convex_evals.pipeline.deploy.codegen import PROBE, GeneratedCode, with_components

API = f"""\
import type * as {PROBE} from "../{PROBE}.js";

declare const fullApi: ApiFromModules<{{
  {PROBE}: typeof {PROBE};
}}>;
"""


def test_every_module_is_imported_and_listed() -> None:
    files = GeneratedCode({"api.d.ts": API, "server.js": "x"}, {}, "{}").for_modules(["a/b.ts", "c.tsx"])
    assert files is not None
    assert files["server.js"] == "x"
    assert files["api.d.ts"].splitlines() == [
        'import type * as a_b from "../a/b.js";',
        'import type * as c from "../c.js";',
        "",
        "declare const fullApi: ApiFromModules<{",
        '  "a/b": typeof a_b;',
        "  c: typeof c;",
        "}>;",
    ]


@pytest.mark.parametrize(
    "modules", [[], ["a/b.ts", "a_b.ts"], ["delete.ts"], ["api.ts"], ["1a.ts"], ["a-b.ts"], ["a.mts"]]
)
def test_names_that_need_care_are_left_to_the_cli(modules: list[str]) -> None:
    assert GeneratedCode({"api.d.ts": API}, {}, "{}").for_modules(modules) is None


def test_code_of_an_unknown_form_is_left_to_the_cli() -> None:
    assert GeneratedCode({"api.d.ts": "export {};"}, {}, "{}").for_modules(["a.ts"]) is None


NO_COMPONENTS = "export declare const components: {};\n"


def test_published_components_are_described_by_their_own_types() -> None:
    text = with_components(NO_COMPONENTS, {"pool": "@convex-dev/workpool", "slowPool": "@convex-dev/workpool"})
    assert text is not None
    assert text.splitlines() == [
        "export declare const components: {",
        '  pool: import("@convex-dev/workpool/_generated/component.js").ComponentApi<"pool">;',
        '  slowPool: import("@convex-dev/workpool/_generated/component.js").ComponentApi<"slowPool">;',
        "};",
    ]
    assert with_components(NO_COMPONENTS, {}) == NO_COMPONENTS


def test_components_of_the_project_are_described_by_the_code_in_their_folder() -> None:
    text = with_components(NO_COMPONENTS, {"counter": "../counter", "audit": "../../components/audit"})
    assert text is not None
    assert text.splitlines()[1:-1] == [
        '  counter: import("../counter/_generated/component.js").ComponentApi<"counter">;',
        '  audit: import("../../components/audit/_generated/component.js").ComponentApi<"audit">;',
    ]


@pytest.mark.parametrize(
    ("api", "mounted"),
    [
        ("export {};", {"pool": "@convex-dev/workpool"}),
        (NO_COMPONENTS, {"pool": ""}),
        (NO_COMPONENTS, {"pool": "./pool"}),
        (NO_COMPONENTS, {"pool": "../po.ol"}),
        (NO_COMPONENTS, {"pool": "../"}),
        (NO_COMPONENTS, {"not a name": "pool"}),
        (NO_COMPONENTS, {"pool": 'pool"'}),
    ],
)
def test_components_that_need_care_are_left_to_the_cli(api: str, mounted: dict[str, str]) -> None:
    assert with_components(api, mounted) is None
