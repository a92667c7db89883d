"""What package.json can ask for. Packages that are hostile themselves are in tests/core/toolchain/test_hostile_packages.py."""

from ..answers import PASSES, Expected, HostileAnswer, fails, package_json

REFUSED = fails("install")
SPECS = {
    "git": "git+https://127.0.0.1:@REDIS@/x.git",
    "git_ssh": "git+ssh://git@@MACHINE@:@MACHINE_PORT@/x.git",
    "git_file": "git+file://@OUTSIDE@",
    "github": "evil/evil",
    "gist": "gist:11081aaa281",
    "http": "http://127.0.0.1:@REDIS@/x.tgz",
    "http_machine": "http://@MACHINE@:@MACHINE_PORT@/x.tgz",
    "file": "file:@HOME@",
    "file_above": "file:../..",
    "link": "link:@HOME@",
    "path": "@HOME@",
    "path_above": "../../answer",
    "alias": "npm:left-pad@1.3.0",
    "alias_of_git": "npm:evil@git+https://127.0.0.1:@REDIS@/x.git",
    "workspace": "workspace:*",
    "portal": "portal:@HOME@",
    "patch": "patch:convex@1.44.0#@HOME@/x.patch",
    "control_characters": "1.0.0\x1b[2J\n--registry=http://127.0.0.1:@REDIS@",
    "option": "--registry=http://127.0.0.1:@REDIS@",
    "number": "9" * 5000,
    "nonsense": "{{{{",
}
NAMES = {
    "parent": "../../evil",
    "absolute": "/etc/evil",
    "option": "--ignore-scripts=false",
    "dot": ".bin",
    "node_modules": "node_modules",
    "proto": "__proto__",
    "shell": "$(id)",
    "scope": "@../evil",
}
MANIFESTS: dict[str, tuple[dict[str, object], Expected]] = {
    "scripts": (
        {
            "scripts": dict.fromkeys(
                ("preinstall", "install", "postinstall", "prepare", "predeploy", "dev", "test"), "touch @OUTSIDE@/pwned"
            )
        },
        PASSES,
    ),
    "binaries": ({"bin": {"node": "./evil.js", "esbuild": "./evil.js", "tsc": "./evil.js"}}, PASSES),
    "main": ({"main": "@HOME@/secret.ts", "exports": "@HOME@/secret.ts"}, PASSES),
    "engines": (
        {"engines": {"node": "0.1.0"}, "os": ["none"], "cpu": ["none"], "packageManager": "pnpm@9.0.0"},
        PASSES,
    ),
    "dependencies_as_list": ({"dependencies": ["convex"]}, REFUSED),
    "dependencies_as_text": ({"dependencies": "convex"}, REFUSED),
    "dependency_as_object": ({"dependencies": {"convex": {"version": "1.44.0"}}}, REFUSED),
    "no_convex": ({"dependencies": {}}, fails("install", "deploy")),
    "old_convex": ({"dependencies": {"convex": "0.1.0"}}, fails("install", "deploy")),
}
SECTIONS: dict[str, dict[str, object]] = {
    "dev": {"devDependencies": {"evil": "file:@HOME@"}},
    "optional": {"optionalDependencies": {"evil": "file:@HOME@"}},
    "peer": {"peerDependencies": {"evil": "file:@HOME@"}},
}
IGNORED: dict[str, dict[str, object]] = {
    "overrides": {"overrides": {"esbuild": "file:@HOME@"}},
    "nested_overrides": {"overrides": {"convex": {"esbuild": "npm:evil@1.0.0"}}},
    "resolutions": {"resolutions": {"esbuild": "npm:evil@1.0.0"}},
    "workspaces": {"workspaces": ["../..", "@HOME@"]},
    "bundled": {"bundleDependencies": True},
}
QUICK = ("git",)
ANSWERS = [
    *(
        HostileAnswer(f"spec_{name}", "plain", {"package.json": package_json({"evil": spec})}, REFUSED, name in QUICK)
        for name, spec in SPECS.items()
    ),
    *(
        HostileAnswer(f"name_{name}", "plain", {"package.json": package_json({spec: "1.0.0"})}, REFUSED, name in QUICK)
        for name, spec in NAMES.items()
    ),
    *(
        HostileAnswer(f"manifest_{name}", "plain", {"package.json": package_json(**more)}, expected, name in QUICK)
        for name, (more, expected) in MANIFESTS.items()
    ),
    *(
        HostileAnswer(
            f"section_{name}", "plain", {"package.json": package_json(**more)}, fails("install"), name in QUICK
        )
        for name, more in SECTIONS.items()
    ),
    *(
        HostileAnswer(f"section_{name}", "plain", {"package.json": package_json(**more)}, PASSES, name in QUICK)
        for name, more in IGNORED.items()
    ),
    HostileAnswer(
        "lock_files",
        "plain",
        {
            "package-lock.json": '{"lockfileVersion": 3, "packages": {"node_modules/convex": {"resolved": "http://127.0.0.1:@REDIS@/x.tgz"}}}',
            "npm-shrinkwrap.json": "{}",
        },
        PASSES,
    ),
    HostileAnswer(
        "shadows_our_tools",
        "plain",
        {"package.json": package_json({"esbuild": "0.27.0", "typescript": "^5.9.0", "prettier": "^3.0.0"})},
        PASSES,
    ),
]
