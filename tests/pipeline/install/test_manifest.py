"""package.json, as far as it decides what is installed."""

import json
from pathlib import Path

import pytest

from convex_evals.pipeline.install.manifest import ManifestError, read_manifest, read_manifest_file


def test_all_sections_count_and_the_same_packages_make_the_same_set() -> None:
    one = read_manifest(json.dumps({"name": "a", "dependencies": {"b": "1", "a": "^2"}, "devDependencies": {"c": "*"}}))
    other = read_manifest(json.dumps({"dependencies": {"a": "^2"}, "peerDependencies": {"b": "1", "a": "9", "c": "*"}}))
    assert one.dependencies == {"a": "^2", "b": "1", "c": "*"}
    assert one.canonical() == other.canonical()


def test_optional_packages_stay_optional() -> None:
    manifest = read_manifest('{"dependencies": {"a": "1"}, "optionalDependencies": {"a": "2"}}')
    assert (manifest.dependencies, manifest.optional) == ({}, {"a": "2"})


def test_ignored_fields_of_the_manifest_are_reported() -> None:
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
        ("__proto__", "1"),
        ("constructor/x", "1"),
        ("Convex", "1"),
        ("\u0441onvex", "1"),
        ("convex\u200b", "1"),
        ("convex ", "1"),
        ("a", "1\0"),
        ("a", "\ud800"),
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
        ('{"a": NaN}', "NaN is not a value"),
        ('{"dependencies": {"a": "1", "a": "2"}}', 'has the key "a" twice'),
        ('{"dependencies": {}, "dependencies": {"a": "1"}}', 'has the key "dependencies" twice'),
        ('{"a": "\0"}', "not valid JSON"),
        (b"\xff\xfe{}", "must be UTF-8, but byte 1 is not"),
        (b'{"a": "\xe9"}', "must be UTF-8, but byte 8 is not"),
        ('{"dependencies": {"a": ' + "1" * 5_000 + "}}", "must map names to versions"),
        ('{"dependencies": ' + '{"a":' * 20_000, "nested too deeply"),
        (json.dumps({"dependencies": {f"p{n}": "1" for n in range(201)}}), "more than 200"),
    ],
)
def test_what_npm_could_not_read_is_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(ManifestError, match=message) as caught:
        read_manifest(text)
    assert caught.value.kind == "manifest-invalid"


def test_a_byte_order_mark_and_long_numbers_are_harmless() -> None:
    text = b'\xef\xbb\xbf{"version": ' + b"9" * 5_000 + b', "__proto__": {"x": 1}, "dependencies": {"a": "1"}}'
    assert read_manifest(text).dependencies == {"a": "1"}


@pytest.mark.parametrize("kind", ["folder", "link", "dangling link", "50 MB"])
def test_what_is_not_a_file_of_a_reasonable_size_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "package.json"
    match kind:
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to("/etc/passwd")
        case "dangling link":
            path.symlink_to(tmp_path / "nowhere")
        case _:
            path.write_bytes(b" " * 50_000_000)
    with pytest.raises(ManifestError, match=r"^package\.json (must be a file|has 50000000 bytes)") as caught:
        read_manifest_file(path)
    assert caught.value.kind == "manifest-invalid"
