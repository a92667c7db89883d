"""What selected the evals of a run, as its record has it, and the command that does the same run again."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from convex_evals.core.ids import prefix
from convex_evals.runner.plans import SELECTION, is_filtered, source_of
from convex_evals.scores import RunRecord

FLAGS: Final[Mapping[str, str]] = {
    "categories": "-c",
    "pattern": "-f",
    "names": "--name",
    "tags": "--tag",
    "failed": "--failed",
    "limit": "--limit",
    "sample": "--sample",
    "seed": "--seed",
}
"""By the field of a user's options; those that were given are recorded."""
MOST_NAMED: Final = 3


def selection_notes(options: object) -> dict[str, Any]:
    """For the record of the run: what of `options` chose its evals."""
    given = {name: value for name in FLAGS if (value := getattr(options, name)) not in (None, False)}
    return {SELECTION: given} if given else {}


def selection_text(run: RunRecord) -> str | None:
    """As options of a command line, a long list of names as a number; None for a run of the whole suite."""
    if not is_filtered(run):
        return None
    recorded = run.options.get(SELECTION)
    if not recorded:
        return "some evals of the suite; how they were selected was not recorded"
    names = recorded.get("names", ())
    if len(names) <= MOST_NAMED:
        return shlex.join(_flags(recorded))
    rest = {name: value for name, value in recorded.items() if name != "names"}
    return " ".join([shlex.join(_flags(rest)), f"{len(names)} evals by name"]).strip()


def address_of(run: RunRecord) -> str | None:
    """Where the model was served, without user and password, if the user said so."""
    recorded = (run.options.get("asking") or {}).get("baseUrl")
    if recorded is None:
        return None
    parts = urlsplit(str(recorded))
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def repeat_command(run: RunRecord, evals: Collection[str], only: str | None = None) -> str:
    """A run like this one: of the same `evals`, or `only` of one of them."""
    asked = list(_asking(run))
    if only is not None:
        return shlex.join([*asked, "-f", f"^{only}$"])
    if (source := source_of(run)) is not None:
        return shlex.join(["convex-evals", "run", "--regrade", prefix(source), *_selecting(run, evals)])
    trials = ["--trials", str(run.trials)] if run.trials > 1 else []
    return shlex.join([*asked, *_selecting(run, evals), *trials])


def _asking(run: RunRecord) -> Iterator[str]:
    yield from ("convex-evals", "run", "-m", run.model)
    if run.experiment != "default":
        yield from ("-e", run.experiment)
    if address := address_of(run):
        yield from ("--base-url", address)


def _selecting(run: RunRecord, evals: Iterable[str]) -> Iterator[str]:
    """The evals by name where the options are not known, or would select others when they are given again."""
    recorded = run.options.get(SELECTION) or {}
    if not is_filtered(run):
        return iter(())
    if recorded and "failed" not in recorded and ("sample" not in recorded or "seed" in recorded):
        return _flags(recorded)
    return _flags({"names": sorted(evals)})


def _flags(recorded: Mapping[str, Any]) -> Iterator[str]:
    for name, flag in FLAGS.items():
        value = recorded.get(name)
        if value is None:
            continue
        for each in value if isinstance(value, list | tuple) else [value]:
            yield from [flag] if each is True else [flag, str(each)]
