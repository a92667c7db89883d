"""Choices that a task may leave to its reader: order, the ends of a range, unit, rounding, capitals, time zone, what
comes when there is nothing. Where an answer made another one, the code that differs shows it, or a complaint's words.
"""

import re
from dataclasses import dataclass
from typing import Final

from convex_evals.analysis.evidence import Evidence

_STRING: Final = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`")
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN: Final = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[<>=!]=+|[<>]|\?\?|\S")
_FIELD: Final = re.compile(r"\b(\w+): v\.")
_PUNCTUATION: Final = frozenset("()[]{},;.:")
MOST_TOKENS: Final = 24
"""A change of more than this is another program, and not another choice."""


@dataclass(frozen=True)
class Choice:
    """`code`: every token that differs is one of these. `said`: how people speak of it. `told`: how a task decides it.

    `raised`: without a word of this kind the task does not come near the matter at all.
    """

    name: str
    code: re.Pattern[str]
    said: re.Pattern[str]
    told: re.Pattern[str]
    raised: re.Pattern[str] = re.compile("")

    def is_open(self, task: str) -> bool:
        return self.raised.search(task) is not None and self.told.search(task) is None


ORDER: Final = Choice(
    "the order of the results",
    re.compile(r"order|sort\w*|toSorted|reverse\w*|desc|asc|localeCompare|by[A-Z]\w*"),
    re.compile(
        r"\b(?:different|another|other|unexpected|reversed?) (?:sort )?order\b|\border (?:differs|is different)", re.I
    ),
    re.compile(
        r"\b(?:in (?:\w+ ){0,3}order|the order|order(?:ed)? by|ordered|sort\w*|ascending|descending"
        r"|from [^.\n]{1,40} (?:down|up|back|on) to|newest|oldest|latest|earliest|alphabetic\w*|rank\w*|chronologic\w*"
        r"|highest|lowest|most recent|(?:comes?|goes|is|are|be) (?:first|last)|first (?:comes|come)|by \w+ first)\b",
        re.I,
    ),
)
NOTHING: Final = Choice(
    "what comes when there is nothing",
    re.compile(r"null|undefined|throw|new|\w*Error|return|0|false|\?\??"),
    re.compile(
        r"(?=.*\b(?:null|undefined|none|empty (?:array|list|object|string))\b)"
        r"(?=.*\b(?:threw|throws?|thrown|empty (?:array|list|object|string)|undefined|not found)\b)",
        re.I | re.DOTALL,
    ),
    re.compile(
        r"\b(?:null|empty|undefined|missing|not found|no such|(?:do|does|is|are) not|nothing|none|unknown|without"
        r"|no longer|fails?|errors?|throws?|reject\w*|invalid)\b",
        re.I,
    ),
)
UNIT: Final = Choice(
    "the unit of the number",
    re.compile(r"[*/]|10|60|100|1000|1_000|3600|3_600|60000|60_000|3600000|3_600_000|86400|86_400|86400000|86_400_000"),
    re.compile(
        r"(?=.*\b(?:milliseconds?|ms|cents?|bytes|minutes?)\b)(?=.*\b(?:(?<!milli)seconds?|hours?|dollars?|euros?|percent)\b)",
        re.I | re.DOTALL,
    ),
    re.compile(
        r"\b(?:in|as|of|many|every|per) (?:\w+ )?(?:milliseconds?|ms|seconds?|minutes?|hours?|days?|cents?|dollars?"
        r"|euros?)\b|\bpercent\w*|%|\bfraction\b",
        re.I,
    ),
)
ROUNDING: Final = Choice(
    "whether the number is rounded",
    re.compile(r"Math|round|floor|ceil|trunc|toFixed|Number|[*/]|\d+"),
    re.compile(r"\bround(?:ed|ing)?\b|\bdecimals?\b|\bdecimal places\b", re.I),
    re.compile(r"\bround\w*|\bdecimals?\b|\bfraction\b|\bwhole\b|\binteger\b|\bexact\w*", re.I),
    re.compile(r"\b(?:average|mean|ratio|share|median|percent\w*|rate|price|sum|total)\b", re.I),
)
BOUNDS: Final = Choice(
    "whether the ends of the range belong to it",
    re.compile(r"gte?|lte?|[<>]=?"),
    re.compile(
        r"\b(?:inclusive|exclusive)(?:ly)?\b|\bexactly at (?:the )?(?:start|end|beginning|boundary|limit)\b", re.I
    ),
    re.compile(
        r"\b(?:inclusive|exclusive|including|excluding|strictly|at least|at most|or equal|(?:at|on) or|exactly"
        r"|before|after|overlap\w*|(?:more|less) than|greater|smaller|fewer|larger|no (?:more|less|later|earlier))\b"
        r"|[<>]=|≤|≥",
        re.I,
    ),
    re.compile(r"\b(?:between|from|since|until|after|before|up to|within|range)\b", re.I),
)
CAPITALS: Final = Choice(
    "capital letters and blanks",
    re.compile(r"to(?:Locale)?(?:Lower|Upper)Case|trim\w*|normalize"),
    re.compile(r"\bcase[- ](?:in)?sensitiv\w*|\b(?:upper|lower)[- ]?case\b|\bcapital letters?\b", re.I),
    re.compile(r"\bcase\b|\bcase-|\btrim|\blower|\bupper|\bexact|\bcapital", re.I),
)
ZONE: Final = Choice(
    "the time zone",
    re.compile(r"[gs]et(?:UTC)?(?:Date|Day|Hours|Month|FullYear|Minutes)|toISOString|toLocale\w+"),
    re.compile(r"\bUTC\b|\btime ?zones?\b|\blocal time\b", re.I),
    re.compile(r"\bUTC\b|\btime ?zones?\b|\blocal\b|\bGMT\b", re.I),
)
OFFSET: Final = Choice(
    "whether counting begins with 0 or 1",
    re.compile(r"[+-]|[01]"),
    re.compile(r"\b(?:zero|one|0|1)-based\b|\bcount\w* from (?:zero|one|0|1)\b", re.I),
    re.compile(
        r"\b(?:from|with|at|is|has|gets) (?:zero|one|0|1)\b|\b(?:zero|one|0|1)-based\b|\bthe first (?:is|has|gets)\b",
        re.I,
    ),
    re.compile(r"\b(?:rank|place|position|index|page number|number of the)\b", re.I),
)
TIES: Final = Choice(
    "the order of equals",
    re.compile(r"localeCompare|\|"),
    re.compile(r"\bties?\b|\btied\b|\b(?:the same|equal) (?!order\b)\w+", re.I),
    re.compile(r"\bties?\b|\btied\b|\bthe same\b|\bequal\b|\bthen by\b|\balphabetic\w*|\bdraws?\b", re.I),
)
"""Open even where the task gives an order, so it is not among those that a difference in code alone shows."""
CHOICES: Final = (ORDER, BOUNDS, UNIT, ROUNDING, OFFSET, CAPITALS, ZONE, NOTHING)


def chosen_in_code(evidence: Evidence) -> tuple[Choice, ...]:
    """The choices that can be all in which the answer's code differs from the reference's."""
    model, expected = tokens(evidence.cause.model_snippet), tokens(evidence.cause.expected_snippet)
    pieces = [
        _COMMENT.sub("", each).strip() for each in (evidence.cause.model_snippet, evidence.cause.expected_snippet)
    ]
    comparable = all(pieces) or any(each.startswith(".") for each in pieces)  # a call more in a chain
    differing = _differing(model, expected) if comparable else set()
    if not differing or len(differing) > MOST_TOKENS:
        return ()
    return tuple(each for each in CHOICES if all(each.code.fullmatch(token) for token in differing))


PRECEDENCE: Final = Choice(
    "which of two checks comes first",
    re.compile("(?!)"),
    re.compile("(?!)"),
    re.compile(r"\b(?:in (?:this|that|the given) order|first|before|preced\w*|priority|takes? precedence)\b", re.I),
)


def checks_in_another_order(evidence: Evidence) -> bool:
    """Both have the same code with several conditions, and only their order differs."""
    model, expected = tokens(evidence.cause.model_snippet), tokens(evidence.cause.expected_snippet)
    return model != expected and sorted(model) == sorted(expected) and model.count("if") > 1


_CONDITION: Final = re.compile(
    r"filter|every|some|find|=>|=|===?|!==?|!|&&|\|\||true|false|if|continue|q|field|eq|neq|\W"
)


def other_condition(evidence: Evidence) -> str | None:
    """The field by which only one of the two selects, if that is all in which the code differs."""
    model, expected = tokens(evidence.cause.model_snippet), tokens(evidence.cause.expected_snippet)
    if not model or not expected:
        return None
    changed = _differing(model, expected)
    selecting = {each for each in changed if _CONDITION.fullmatch(each)}
    fields = changed & {name for text in evidence.answer.values() for name in _FIELD.findall(text)}
    others = changed - selecting - fields
    # One other name may differ: that of what is selected.
    return next(iter(fields)) if selecting and len(fields) == 1 and len(others) <= 1 else None


def chosen_in_words(said: str) -> tuple[Choice, ...]:
    """The choices of which a complaint speaks, where it names both sides."""
    return tuple(each for each in CHOICES if each.said.search(said))


def tokens(code: str) -> list[str]:
    """Without comments, the texts of strings and punctuation."""
    plain = _STRING.sub(
        lambda found: f" {found[0][1:-1]} " if found[0][1:-1].isalpha() else " ", _COMMENT.sub(" ", code)
    )
    return [each for each in _TOKEN.findall(plain) if each not in _PUNCTUATION]


def _differing(one: list[str], other: list[str]) -> set[str]:
    """What the one has more often than the other."""
    return {each for each in {*one, *other} if one.count(each) != other.count(each)}
