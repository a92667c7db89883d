"""Where things are. Addresses are stable: links of other people point at them."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, urlencode

from starlette.requests import Request

Links = Callable[[str, str], str]
"""From the page it stands on and the address it leads to, what a link says. `publish` makes it a relative file name."""


def as_it_is(page: str, address: str) -> str:
    return address


def links_of(request: Request) -> Links:
    found: Links = getattr(request.app.state, "links", as_it_is)
    return found


def _joined(*parts: str) -> str:
    return "/" + "/".join(quote(part, safe="/:@~") for part in parts)


def with_query(address: str, **query: object) -> str:
    """Adds what is given; empty values are left out."""
    chosen = {key: str(value) for key, value in query.items() if value not in (None, "", False)}
    return f"{address}?{urlencode(chosen)}" if chosen else address


@lru_cache(maxsize=1024)
def run_address(experiment: str, run_id: str) -> str:
    return _joined("experiment", experiment, "run", run_id)


def category_address(experiment: str, run_id: str, category: str) -> str:
    return f"{run_address(experiment, run_id)}{_joined(category)}"


def result_address(experiment: str, run_id: str, eval: str, trial: int = 1) -> str:
    """`eval` is `category/name`. The first trial is what is shown without being asked for."""
    return with_query(f"{run_address(experiment, run_id)}{_joined(eval)}", trial=trial if trial > 1 else None)


def model_address(provider: str, model: str) -> str:
    """A provider's name in front of the model's is not repeated."""
    return _joined("model", provider, model.removeprefix(f"{provider}/"))


def eval_address(eval: str) -> str:
    return _joined("eval", eval)


def report_address(path: Path) -> str:
    """Of the Markdown file of a report, below PROVIDER/MODEL."""
    return _joined("reports", *path.parts[-3:])
