"""Ways to say a labelled case otherwise without changing what it is: a verdict that changes with them rests on words.

Used by tests/analysis/scoring/test_stability.py and by scripts/generality.py.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from convex_evals.analysis.scoring import LabelledCase
from convex_evals.core.diagnostics import Diagnostic

Perturbation = Callable[[LabelledCase, Mapping[str, str]], LabelledCase]
_NAME: Final = re.compile(r"\b[a-z]+[A-Z]\w*\b")
_IMPORTED: Final = re.compile(
    r"import (?:type )?\{([^}]*)\} from [\"'](?:convex/|[./]*convex/_generated|[./]*_generated)"
)
_SYLLABLES: Final = ("zor", "mip", "kel", "dax", "fen", "gub", "hoj", "lam", "nuv", "pel", "quo", "rit", "sab", "tov")
MOST_REPORTED: Final = 600  # characters of an error
_BESIDE: Final = "- Answers begin with a greeting now and then, and that costs tokens.\n"


def own_names(cases: Iterable[LabelledCase]) -> dict[str, dict[str, str]]:
    """For each eval, names that no other eval has, with new ones: those of its functions and fields, not of Convex."""
    known: defaultdict[str, set[str]] = defaultdict(set)
    theirs: set[str] = set()  # of Convex
    for case in cases:
        theirs |= {
            name for text in case.answer.values() for names in _IMPORTED.findall(text) for name in _NAME.findall(names)
        }
        for text in (case.task, *case.answer.values()):
            for name in _NAME.findall(text):
                known[name].add(case.eval)
    names: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for number, (name, evals) in enumerate(sorted(known.items())):
        if len(evals) == 1 and name not in theirs:
            names[next(iter(evals))][name] = _invented(name, number)
    return names


def _invented(name: str, number: int) -> str:
    parts = re.findall(r"[a-z0-9]+|[A-Z][a-z0-9]*", name)
    words = [
        _SYLLABLES[(number * 3 + place * 5) % 14] + _SYLLABLES[(number + place * 9) % 14] for place in range(len(parts))
    ]
    return words[0] + "".join(word.capitalize() for word in words[1:])


def other_names(case: LabelledCase, names: Mapping[str, str]) -> LabelledCase:
    return _everywhere(case, lambda text: _NAME.sub(lambda found: names.get(found[0], found[0]), text))


def other_quotes(case: LabelledCase, names: Mapping[str, str]) -> LabelledCase:
    """In what people wrote down; what tools print is as it is."""
    return case if case.diagnostics else replace(case, error=case.error.replace("`", "'"))


def a_word_before_the_error(case: LabelledCase, names: Mapping[str, str]) -> LabelledCase:
    known = case.diagnostics or not case.error or case.failed_step == "eslint"
    return case if known else replace(case, error=f"Error: {case.error}")


def complaints_in_another_order(case: LabelledCase, names: Mapping[str, str]) -> LabelledCase:
    return replace(case, diagnostics=tuple(reversed(case.diagnostics)))


def gaps_in_another_order(case: LabelledCase, names: Mapping[str, str]) -> LabelledCase:
    heading, *entries = re.split(r"\n(?=- )", f"\n{case.gaps.strip()}")
    return replace(case, gaps="\n".join([heading, *reversed(entries)])) if case.gaps else case


def gaps_with_other_subjects(case: LabelledCase, names: Mapping[str, str]) -> LabelledCase:
    others = {"- It's ": "* The model is ", "- It doesn't ": "* Models don't ", "- It ": "* The model ", "- ": "* "}
    pattern = re.compile("|".join(map(re.escape, others)))
    return replace(case, gaps=pattern.sub(lambda found: others[found[0]], case.gaps))


def a_gap_about_something_else(case: LabelledCase, names: Mapping[str, str]) -> LabelledCase:
    return replace(case, gaps=f"{case.gaps.rstrip()}\n{_BESIDE}".lstrip())


def a_sentence_more_in_the_task(case: LabelledCase, names: Mapping[str, str]) -> LabelledCase:
    more = "\n\nPlease write code that a colleague can read.\n"
    return replace(case, task=case.task.rstrip() + more) if case.task else case


def task_in_another_order(case: LabelledCase, names: Mapping[str, str]) -> LabelledCase:
    first, *rest = case.task.split("\n\n")
    return case if "```" in case.task else replace(case, task="\n\n".join([first, *reversed(rest)]))


def snippets_with_another_indent(case: LabelledCase, names: Mapping[str, str]) -> LabelledCase:
    model, expected = (re.sub(r"\n[ \t]*", "\n    ", text) for text in (case.model_snippet, case.expected_snippet))
    return replace(case, model_snippet=model, expected_snippet=expected)


def as_reported(case: LabelledCase) -> LabelledCase:
    """A case that we graded with as little as a person's report has: some lines of the error, two snippets, the task,
    the reference and the gaps. The label stays, so it shows how much a verdict rests on evidence that others lack."""
    said = "\n".join(_reported(each) for each in case.diagnostics if each.step == case.failed_step)
    return replace(
        case,
        error=said[:MOST_REPORTED],
        diagnostics=(),
        steps=(),
        tests=None,
        parity=None,
        grader="",
        files={},
        found="stated",
    )


def _reported(each: Diagnostic) -> str:
    if each.step == "eslint":
        return f"`{each.name}`"
    if each.step == "tsc":
        return f"{each.file}: error {each.name}: {each.message}"
    if each.expected is not None and each.received is not None:
        return f"expected {each.received} to equal {each.expected}"
    return each.message.partition("\n")[0]


PERTURBATIONS: Final[tuple[Perturbation, ...]] = (
    other_names,
    other_quotes,
    a_word_before_the_error,
    complaints_in_another_order,
    gaps_in_another_order,
    gaps_with_other_subjects,
    a_gap_about_something_else,
    a_sentence_more_in_the_task,
    task_in_another_order,
    snippets_with_another_indent,
)


def _everywhere(case: LabelledCase, change: Callable[[str], str]) -> LabelledCase:
    def changed(files: Mapping[str, str]) -> dict[str, str]:
        return {change(path): change(text) for path, text in files.items()}

    return replace(
        case,
        error=change(case.error),
        task=change(case.task),
        files=changed(case.files),
        answer=changed(case.answer),
        model_snippet=change(case.model_snippet),
        expected_snippet=change(case.expected_snippet),
        gaps=change(case.gaps),
        grader=change(case.grader),
        diagnostics=tuple(_changed(each, change) for each in case.diagnostics),
    )


def _changed(each: Diagnostic, change: Callable[[str], str]) -> Diagnostic:
    texts = {name: getattr(each, name) for name in ("message", "expected", "received", "assertion")}
    return replace(each, **{name: change(text) for name, text in texts.items() if text is not None})
