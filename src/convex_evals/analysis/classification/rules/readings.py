"""Readings of a task that show in two values and two pieces of code together: how ranks are counted, what a week is,
what is rounded first, whether what has nothing belongs to the result, how a text is put together, how many."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from convex_evals.analysis.evidence import Evidence

_CODE: Final = re.compile(r"\.(?:tsx?|jsx?)$")


class Seen(NamedTuple):
    """What was wanted, what came, and the code of both sides; of the reference all of it."""

    expected: Any
    received: Any
    model: str
    reference: str


@dataclass(frozen=True)
class Reading:
    """`raised`: how a task comes near the matter. `told`: how it decides it."""

    name: str
    shows: Callable[[Seen], bool]
    raised: re.Pattern[str]
    told: re.Pattern[str]


def other_reading(expected: Any, received: Any, evidence: Evidence, task: str) -> str | None:
    """What the task leaves open, if the answer has read it in another way than the reference."""
    seen = Seen(expected, received, evidence.cause.model_snippet, reference_code(evidence))
    open_ones = (each for each in READINGS if each.raised.search(task) and not each.told.search(task))
    return next((each.name for each in open_ones if each.shows(seen)), None)


def reference_code(evidence: Evidence) -> str:
    """The part that matters, and the rest of the reference, on which it may rest."""
    files = [text for path, text in evidence.answer.items() if _CODE.search(path)]
    return "\n".join([evidence.cause.expected_snippet, *files])


def _ranks(values: Any) -> list[int]:
    """A list of ranks, or the column of ranks in a list of objects."""
    if not isinstance(values, list) or not values:
        return []
    if all(isinstance(each, dict) for each in values):
        values = [each.get("rank", each.get("place", each.get("position"))) for each in values]
    whole = all(isinstance(each, int) and not isinstance(each, bool) for each in values)
    return list(values) if whole and min(values) == 1 else []


def _counts_places(ranks: list[int]) -> bool:
    return all(rank == 1 + sum(other < rank for other in ranks) for rank in ranks)


def _counts_ranks(ranks: list[int]) -> bool:
    return set(ranks) == set(range(1, max(ranks) + 1))


def _skips_otherwise(seen: Seen) -> bool:
    """1, 1, 2 for 1, 1, 3."""
    one, other = _ranks(seen.expected), _ranks(seen.received)
    if not one or len(one) != len(other) or one == other or len(set(one)) == len(one):
        return False
    same_ties = [one.index(rank) for rank in one] == [other.index(rank) for rank in other]
    return same_ties and any(_counts_places(a) and _counts_ranks(b) for a, b in ((one, other), (other, one)))


def _shares_otherwise(seen: Seen) -> bool:
    """1, 2, 3 for 1, 2, 2."""
    one, other = _ranks(seen.expected), _ranks(seen.received)
    if not one or len(one) != len(other):
        return False
    tied = [len(set(each)) < len(each) for each in (one, other)]
    return tied[0] != tied[1] and all(_counts_places(each) or _counts_ranks(each) for each in (one, other))


_CALENDAR: Final = re.compile(r"\bstartOf\w*|\b[gs]et(?:UTC)?(?:Day|Date|Month|FullYear|Hours)\(|\bDate\.UTC\(")
_BACKWARDS: Final = re.compile(r"\bnow(?:\(\))? ?- ?\w")


def _calendar_or_not(seen: Seen) -> bool:
    """The one goes back from now by a number, the other to where a day, week or month begins."""
    calendar = [bool(_CALENDAR.search(each)) for each in (seen.model, seen.reference)]
    if calendar[0] == calendar[1]:
        return False
    return _BACKWARDS.search(seen.reference if calendar[0] else seen.model) is not None


_ROUNDS: Final = re.compile(r"\bMath\.(\w+)\(|\.(toFixed)\(")
_MOST_DECIMALS: Final = 3


def _rounded_before(seen: Seen) -> bool:
    """They differ by one in the last digit, both sides round alike, and the answer more than once."""
    values = (seen.expected, seen.received)
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in values):
        return False
    digits = max(len(repr(float(each)).partition(".")[2]) for each in values)
    used = [["".join(found) for found in _ROUNDS.findall(each)] for each in (seen.model, seen.reference)]
    alike = bool(used[0]) and len(used[0]) > 1 and set(used[0]) == set(used[1])
    apart = abs(values[0] - values[1]) * 10**digits
    return alike and digits <= _MOST_DECIMALS and values[0] != values[1] and 0.5 < apart < 1.5


_LEAVES_OUT: Final = re.compile(
    r"\bif *\([^\n]*(?:\.length *(?:===? *0|< *1)|![\w.]+\.length)[^\n]*\) *\{?\s*continue\b"
    r"|\.filter\([^\n]*\.length *(?:> *0|!==? *0|>= *1)"
)
_SIZE: Final = re.compile(r"a length of (\d+)")


def _size(value: Any) -> int | None:
    if isinstance(value, list):
        return len(value)
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else None


def _leaves_out(seen: Seen) -> bool:
    """Fewer came, because only the answer leaves out what has nothing."""
    sizes = [_size(seen.expected), _size(seen.received)]
    fewer = sizes[0] is not None and sizes[1] is not None and sizes[1] < sizes[0]
    return fewer and bool(_LEAVES_OUT.search(seen.model)) and not _LEAVES_OUT.search(seen.reference)


def _put_together_otherwise(seen: Seen) -> bool:
    """The same words or numbers in another order, or with other signs between them."""
    if not isinstance(seen.expected, str) or not isinstance(seen.received, str) or seen.expected == seen.received:
        return False
    words = [re.findall(r"\w+", each.replace("_", " ")) for each in (seen.expected, seen.received)]
    return len(words[0]) > 1 and Counter(words[0]) == Counter(words[1])


_LIMIT: Final = re.compile(
    r"\.take\((\d+)\)|\.slice\(0, (\d+)\)|\bnumItems: (\d+)|\b[A-Z_]*(?:LIMIT|MAX)[A-Z_]* = (\d+)"
)


def _other_limit(seen: Seen) -> bool:
    limits = [{"".join(found) for found in _LIMIT.findall(each)} for each in (seen.model, seen.reference)]
    sizes = {str(_size(seen.expected)), str(_size(seen.received))}
    return bool(limits[0] and limits[1]) and not limits[0] & limits[1] and bool(sizes & (limits[0] | limits[1]))


READINGS: Final = (
    Reading(
        "whether the rank after a shared one is skipped",
        _skips_otherwise,
        re.compile(r"\b(?:rank|place|position|standing)", re.I),
        re.compile(
            r"\b(?:skip\w*|dense\w*|consecutive|gaps?|next (?:rank|place|position)|how many"
            r"|number of (?:players|users|those)|competition|one more than)\b|\d, ?\d, ?\d",
            re.I,
        ),
    ),
    Reading(
        "whether equals share a rank",
        _shares_otherwise,
        re.compile(r"\b(?:rank|place|position|standing)", re.I),
        re.compile(r"\bties?\b|\btied\b|\b(?:the )?same\b|\bequal|\bshar(?:e|es|ed|ing)\b|\bdraws?\b|\bunique\b", re.I),
    ),
    Reading(
        "whether the period is one of the calendar",
        _calendar_or_not,
        re.compile(
            r"\b(?:last|past|this|previous|current|recent) (?:day|week|month|quarter|year)\b|\btoday\b|\byesterday\b",
            re.I,
        ),
        re.compile(
            r"\bcalendar\b|\brolling\b|\bago\b|\bmidnight\b|\bUTC\b|\b(?:Mon|Sun)day\b|\bbeg[iu]n\w*"
            r"|\bstart(?:s|ing)? (?:of|on|at)\b"
            r"|\b(?:\d+|seven|thirty|twenty-four) (?:\w+ )?(?:days|hours)\b|\bfirst (?:day )?of\b",
            re.I,
        ),
    ),
    Reading(
        "what is rounded first",
        _rounded_before,
        re.compile(r"\bround|\bdecimal|\bdigits\b|\bcents\b", re.I),
        re.compile(
            r"\bunrounded\b|\b(?:before|after|only|finally|at the end|not|then)\b[^.\n]{0,30}\bround"
            r"|\bround\w*[^.\n]{0,30}\b(?:only|at the end|before|after|first|last)\b|\bexact\w*",
            re.I,
        ),
    ),
    Reading(
        "whether what has nothing belongs to the result",
        _leaves_out,
        re.compile(""),
        re.compile(
            r"\bonly (?:those|users|the ones|with)\b|\bwithout\b|\bat least\b|\bempty\b|\bnone\b|\beven\b"
            r"|\bha(?:s|ve) (?:no|any|some)\b"
            r"|\bwith (?:no|any|some)\b|\bevery\b|\ball\b|\beach\b|\bregardless\b|\bwhether or not\b",
            re.I,
        ),
    ),
    Reading(
        "how the text is put together",
        _put_together_otherwise,
        re.compile(""),
        re.compile(
            r"\bformat\w*|\bseparat\w+|\bjoin\w*|\bcommas?\b|\bhyphen|\bdash|\bunderscore|\bspaces?\b|\bfollowed by\b"
            r"|\bthen\b|\bISO\b|\bYYYY\b|\be\.g\.|\bfor example\b|\bsuch as\b|\blike [\"'`“]"
            r"|[\"'`“][^\"'`”\n]*[<{$][^\"'`”\n]*[\"'`”]|\border\b"
            r"|\bconcat\w*|\bconsist\w*|\bexact\w*|\bunchanged\b|\bas (?:it|they) (?:is|are)\b|\boriginal\b"
            r"|\bbetween\b",
            re.I,
        ),
    ),
    Reading(
        "how many there may be",
        _other_limit,
        re.compile(r"\b(?:few|some|recent|latest|top|newest|limit\w*|page|first|best|most)\b", re.I),
        re.compile(
            r"(?<![\w.])(?:[2-9]|\d{2,})(?![\w.])|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|twenty|thirty|fifty"
            r"|hundred|thousand)\b|\ball\b|\bevery\b",
            re.I,
        ),
    ),
)
