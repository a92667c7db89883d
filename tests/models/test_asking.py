from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.models import Asking
from convex_evals.models.experiments import Experiment, find_experiment


@pytest.mark.parametrize(
    "asking",
    [
        Asking(),
        Asking(Experiment("mine", guidelines="none", web_search=True)),
        Asking(Experiment("default_without_queries", without=("Queries",))),
        Asking(Experiment("guided", guidelines=Path("/a/guide.md"), delivery="agents_md")),
        Asking(base_url="http://127.0.0.1:8080/v1", cache_scope="x"),
    ],
)
def test_a_run_remembers_how_it_asks(asking: Asking) -> None:
    assert Asking.from_json(asking.experiment.name, asking.as_json()) == asking


def test_guidelines_are_remembered_by_their_complete_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    recorded = Asking(find_experiment("default").with_guidelines(Path("guide.md"))).as_json()
    assert recorded["guidelines"] == str(tmp_path / "guide.md")


def test_a_run_that_remembers_nothing_has_its_experiments_name() -> None:
    assert Asking.from_json("old", None) == Asking(Experiment("old"))


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("ftp://x", "must be a URL such as http://127.0.0.1:8080/v1, but it is 'ftp://x'"),
        ("127.0.0.1:8080", "must be a URL"),
        ("http://", "must be a URL"),
        ("http://x:0/v1", "must be a URL"),
        ("http://x:port", "must be a URL"),
        ("http://me:secret@x/v1", "must not have a password in it"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused_without_its_password(url: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as refused:
        Asking(base_url=url)
    assert "secret" not in str(refused.value)
