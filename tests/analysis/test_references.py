import pytest

from convex_evals.analysis import run_reference
from convex_evals.core.errors import UsageError


@pytest.mark.parametrize(
    ("given", "run"),
    [
        ("latest:sample/expert", "latest:sample/expert"),
        ("jn76nmvg", "jn76nmvg"),
        ("https://x.example/experiment/default/run/jn76nmvg", "jn76nmvg"),
        ("https://x.example/base/experiment/no_guidelines/run/jn76nmvg/category/eval?tab=steps#top", "jn76nmvg"),
        ("/experiment/default/run/jn76nmvg/", "jn76nmvg"),
    ],
)
def test_ids_prefixes_and_addresses_name_a_run(given: str, run: str) -> None:
    assert run_reference(given) == run


@pytest.mark.parametrize("given", ["https://x.example/", "https://x.example/run/abc", "/experiment/default/run/"])
def test_an_address_without_a_run_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="names no run"):
        run_reference(given)
