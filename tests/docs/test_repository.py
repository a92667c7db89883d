import json
import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.conftest import LONGEST

from convex_evals.suite import Selection, load_suite, select

# Written in pieces, because this file is searched as well.
REGISTRIES = [
    ".".join(parts).encode()
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "yarnpkg", "com"),
        ("npm", "pkg", "github", "com"),
        ("npm", "jsr", "io"),
    )
]

LOCKS = ("requirements.lock", "requirements-ray.lock")


def test_no_file_names_a_package_registry(repository: Path, sources: tuple[Path, ...]) -> None:
    named = [
        f"{name}: {registry.decode()}"
        for name in sources
        for registry in REGISTRIES
        if registry in (repository / name).read_bytes()
    ]
    assert not named


def test_no_lock_file_says_where_packages_come_from(repository: Path, sources: tuple[Path, ...]) -> None:
    for name in LOCKS:
        assert not re.search(r"https?:|--(extra-)?index-url|--find-links", (repository / name).read_text())
    for name in sources:
        if name.name == "package-lock.json":
            packages = json.loads((repository / name).read_bytes())["packages"]
            assert not [path for path, package in packages.items() if "resolved" in package]


@pytest.fixture
def pins(repository: Path) -> dict[str, str]:
    lock = "".join((repository / name).read_text() for name in LOCKS)
    return {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.M)}


def test_the_lock_satisfies_every_requirement(repository: Path, pins: dict[str, str]) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    for text in [*project["dependencies"], *chain(*project["optional-dependencies"].values())]:
        requirement = Requirement(text)
        pinned = pins.get(canonicalize_name(requirement.name))
        assert pinned is not None, f"{text} is not locked; run scripts/lock"
        assert requirement.specifier.contains(pinned), f"{text} is locked as {pinned}; run scripts/lock"


def test_every_pin_in_the_lock_has_a_hash(repository: Path, pins: dict[str, str]) -> None:
    locked = [re.split(r"^(?=[\w.-]+==)", (repository / name).read_text(), flags=re.M)[1:] for name in LOCKS]
    entries = list(chain(*locked))
    assert len({entry.split("==")[0] for entry in entries}) == len(pins)
    assert not [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry]


@pytest.mark.parametrize("script", ["convex-evals", "scripts/bootstrap", "scripts/docs", "scripts/lock", ".ci/run"])
def test_a_script_can_be_executed(repository: Path, script: str) -> None:
    path = repository / script
    assert path.stat().st_mode & 0o111
    assert path.read_text().startswith("#!")


def test_pictures_are_small_and_each_is_shown_by_a_page(repository: Path, sources: tuple[Path, ...]) -> None:
    pictures = [name for name in sources if name.parts[0] == "docs" and name.suffix in (".png", ".svg")]
    assert len(pictures) >= 6
    assert not [name for name in pictures if (repository / name).stat().st_size > 200_000]
    pages = "".join((repository / name).read_text() for name in sources if name.suffix == ".md")
    assert not [name for name in pictures if f"{name.name})" not in pages]


def test_the_files_of_tests_that_begin_exist(repository: Path) -> None:
    assert [name for name in LONGEST if not (repository / "tests" / name).is_file()] == []


def test_the_sample_report_is_about_the_evals_that_its_script_grades(repository: Path) -> None:
    found = re.search(r"run --model (\S+) --filter '([^']+)'", (repository / "scripts" / "sample-report").read_text())
    assert found is not None
    model, pattern = found.groups()
    names = [each.id for each in select(load_suite(repository / "evals"), Selection(pattern=pattern))]
    page = (repository / "docs" / "sample-report.md").read_text()
    assert page.startswith(f"# Run Analysis Report: {model}\n")
    assert f"/{len(names)}` (" in next(line for line in page.splitlines() if line.startswith("- **Pass rate**"))
