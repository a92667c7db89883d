"""package.json, as far as it decides what is installed."""

import json

import pytest

from convex_evals.pipeline.install.manifest import ManifestError, read_manifest


def test_all_sections_count_and_the_same_packages_make_the_same_set() -> None:
    one = read_manifest(json.dumps({"name": "a", "dependencies": {"b": "1", "a": "^2"}, "devDependencies": {"c": "*"}}))
    other = read_manifest(json.dumps({"dependencies": {"a": "^2"}, "peerDependencies": {"b": "1", "a": "9", "c": "*"}}))
    assert one.dependencies == {"a": "^2", "b": "1", "c": "*"}
    assert one.canonical() == other.canonical()


def test_optional_packages_stay_optional() -> None:
    manifest = read_manifest('{"dependencies": {"a": "1"}, "optionalDependencies": {"a": "2"}}')
    assert (manifest.dependencies, manifest.optional) == ({}, {"a": "2"})


def test_what_is_ignored_is_said() -> None:
    ignored = {"scripts": {"postinstall": "x"}, "overrides": {"x": "1"}, "workspaces": ["*"], "engines": {"node": "1"}}
    notes = read_manifest(json.dumps(ignored)).notes
    assert [note.split(" is ")[0] for note in notes] == [
        f"package.json: {key}" for key in ("engines", "overrides", "scripts", "workspaces")
    ]


@pytest.mark.parametrize("spec", ["1.2.3", "^1", "~1.2", ">=1 <2 || 3.x", "*", "", "latest", "1.0.0-beta.1+build"])
def test_versions_ranges_and_tags_are_allowed(spec: str) -> None:
    assert read_manifest(json.dumps({"dependencies": {"pkg": spec}})).dependencies == {"pkg": spec}


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("a", "file:../x"),
        ("a", "link:./x"),
        ("a", "git+https://host/x.git"),
        ("a", "git@host:x/y.git"),
        ("a", "github:user/repo"),
        ("a", "user/repo"),
        ("a", "https://host/x.tgz"),
        ("a", "./x"),
        ("a", "../x"),
        ("a", "~/x"),
        ("a", "/etc"),
        ("a", "workspace:*"),
        ("a", "portal:./x"),
        ("convex", "npm:evil@1"),
        ("prettier", "npm:@evil/x"),
        ("../../x", "1"),
        ("a/b", "1"),
        ("@scope", "1"),
        ("node_modules", "1"),
        (".bin", "1"),
        ("x" * 300, "1"),
        ("", "1"),
    ],
)
def test_what_does_not_come_from_the_registry_under_its_own_name_is_refused(name: str, spec: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read_manifest(json.dumps({"dependencies": {name: spec}}))
    assert caught.value.kind == "dependency-refused"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1, column 2"),
        ("[]", "JSON object"),
        ('"' * 3, "not valid JSON"),
        ('{"dependencies": []}', "must map names to versions"),
        ('{"dependencies": {"a": 1}}', "must map names to versions"),
        ("[" * 100_000, "nested too deeply"),
        (" " * 300_000, "300000 characters"),
        (json.dumps({"dependencies": {f"p{n}": "1" for n in range(201)}}), "more than 200"),
    ],
)
def test_what_npm_could_not_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(ManifestError, match=message) as caught:
        read_manifest(text)
    assert caught.value.kind == "manifest-invalid"
