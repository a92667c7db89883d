"""Which evals of a suite are meant."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from convex_evals.core.errors import UsageError
from convex_evals.suite.eval import Eval
from convex_evals.suite.files import Problem, printable
from convex_evals.suite.suite import Suite


@dataclass(frozen=True)
class Selection:
    """Every condition given must hold; of the values of one condition, any may."""

    categories: Sequence[str] = ()
    """`000-fundamentals`, `000` or `fundamentals`."""
    pattern: str | None = None
    """A regular expression searched in `category/name`."""
    names: Sequence[str] = ()
    """`category/name` or `name`, with or without their numbers."""
    tags: Sequence[str] = ()
    """A concept or a difficulty, as in `eval.json`."""

    def takes(self, candidate: Eval) -> bool:
        is_tagged = not self.tags or not set(self.tags).isdisjoint(candidate.tags.names)
        return is_tagged and self.takes_name(candidate.category, candidate.name)

    def takes_problem(self, suite: Suite, problem: Problem) -> bool:
        """Whether it keeps a selected eval from being loaded, or concerns the suite as a whole."""
        broken = _broken_eval(suite, problem)
        return broken is None or self.takes_name(*broken)

    @property
    def is_everything(self) -> bool:
        return not (self.categories or self.pattern or self.names or self.tags)

    def takes_name(self, category: str, name: str) -> bool:
        return (
            (not self.categories or not _category_spellings(category).isdisjoint(self.categories))
            and (not self.names or not spellings(category, name).isdisjoint(self.names))
            and (self.pattern is None or re.search(self.pattern, f"{category}/{name}") is not None)
        )


def select(suite: Suite, selection: Selection) -> tuple[Eval, ...]:
    """The selected evals in the suite's order; an unknown category or name, or no match at all, is a usage error."""
    _check_pattern(selection.pattern)
    broken = dict.fromkeys(each for problem in suite.problems if (each := _broken_eval(suite, problem)) is not None)
    named = [*((each.category, each.name) for each in suite.evals), *broken]
    _check_known("category", selection.categories, (_category_spellings(category) for category, _ in named))
    _check_known("eval", selection.names, (spellings(*each) for each in named))
    _check_known("tag", selection.tags, (set(names) for names in suite.tags.values()))
    chosen = tuple(filter(selection.takes, suite.evals))
    if not chosen and not selection.is_everything:
        matching = [] if selection.tags else ["/".join(each) for each in broken if selection.takes_name(*each)]
        _refuse(suite, matching)
    return chosen


def _refuse(suite: Suite, broken: Sequence[str]) -> None:
    """`broken` would match if they could be loaded. A suite without any eval is for the caller to report."""
    if len(broken) == 1:
        raise UsageError(
            f"The only eval that matches, {printable(broken[0])}, is broken; `convex-evals list` says what is wrong."
        )
    if broken:
        raise UsageError(f"All {len(broken)} evals that match are broken; `convex-evals list` says what is wrong.")
    if suite.evals:
        raise UsageError(f"No eval matches; `convex-evals list` without filters shows all {len(suite.evals)}.")


def _broken_eval(suite: Suite, problem: Problem) -> tuple[str, str] | None:
    """Category and name of the eval that it keeps from being loaded; None: it concerns the suite as a whole."""
    parts = problem.path.relative_to(suite.root).parts if problem.path.is_relative_to(suite.root) else ()
    return (parts[0], parts[1]) if len(parts) > 1 else None


def _category_spellings(category: str) -> set[str]:
    number, _, word = category.partition("-")
    return {category, number, word}


def spellings(category: str, name: str) -> set[str]:
    """How an eval may be called: `002-queries/012-index_and_filter`, and without either number or the category."""
    names = {name, name.partition("-")[2] or name}
    return names | {f"{each}/{short}" for each in _category_spellings(category) for short in names}


def _check_pattern(pattern: str | None) -> None:
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise UsageError(f"Expected a regular expression as filter, found {pattern!r}: {error}.") from error


def _check_known(noun: str, wanted: Sequence[str], spellings: Iterable[set[str]]) -> None:
    known = set().union(*spellings)
    for text in wanted:
        if text not in known:
            close = get_close_matches(text, sorted(known), n=1)
            advice = f"did you mean {close[0]}?" if close else "`convex-evals list` shows what there is."
            raise UsageError(f"There is no {noun} {text!r} in this suite; {advice}")
