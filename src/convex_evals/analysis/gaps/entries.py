"""GAPS.txt read as entries. It is prose, with marks for those who want to be exact (docs/analysis.md):

- [check] `no-misused-promises` rejects async handlers, which are common.
- [task] The order of equal scores is not stated.
- [resolved] …
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from convex_evals.analysis.gaps.concepts import find_concepts, used_in, without_concepts
from convex_evals.analysis.terms import Terms, code_terms, terms_of

Blame = Literal["model", "task", "check"]
_ITEM: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)")
_BULLET: Final = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
_MARK: Final = re.compile(r"^[\[(](?P<mark>model|task|check|resolved|fixed|done)[\])]:?\s*", re.I)
_HEADING: Final = re.compile(r"^#|^[\w ,/.-]{1,60}:$")
_NOTHING: Final = re.compile(r"^\W*(?:none\b|n/?a\b|nothing\b|no (?:known )?gaps?\b|no (?:issues?|problems?)\b)", re.I)
_SUCCESS: Final = re.compile(
    r"\b(?:works?|pass(?:es)?(?= *(?:$|[.,;!(]|now\b|all\b|every|the tests?\b|with\b|on\b|in\b))|succeeds?"
    r"|g[eo]ts? (?:it|them|this|the rest)\b|(?:look|do|is|are|go|went|gets?|got)\w*"
    r" (?:\w+ )?(?:great|good|fine|well|better|right|correct))\b",
    re.I,
)
_TROUBLE: Final = re.compile(
    r"\bnot?\b|n't\b|\bbut\b|\b(?:fail|wrong|forg|miss|reject|although|instead|never)\w*", re.I
)
_CONSEQUENCE: Final = re.compile(
    r",? (?:so (?:that )?(?:it|they|this|that|the|everything|nothing)\b|which (?:means|is why)|as a result)", re.I
)
# What an entry adds to the cause: excuses, guesses, what should be done about it.
_REMARK: Final = re.compile(
    r",? but (?:that|this|it)(?:'s| is) (?:just|only|hardly|not)\b.*"
    r"|,? but not (?:\w+ )?(?:asked|required|requested|demanded)\b.*"
    r"|\W+(?:(?:we|the task|TASK\.txt) )?(?:should|ought to) (?:probably )?"
    r"(?:specify|say|state|mention|clarify|ask)\b.*"
    r"|,? I (?:think|guess|suppose)\b.*|, (?:maybe|probably|perhaps|possibly)\b.*|,? for some reason\b"
    r"|^(?:beyond|besides|apart from|aside from|in addition to) [^,]+,",
    re.I,
)
_RATHER: Final = re.compile(
    r" instead of | rather than | in place of | (?:where|when|while|although|though) (?:it |they |that |this )?"
    r"(?:should|must|ha(?:s|ve) to|needs? to|ought to) (?:be|have|use|call) "
    r"| (?:where|when|while|although|though) "
    r"(?=[^.;]+ (?:is|are|was|were) (?:needed|required|wanted|meant|expected|right|correct)\b)"
    r"|[,;:] (?:it |this |that |they )?(?:should|must|has to|needs to) (?:be|have|use) ",
    re.I,
)
_SYMBOLS: Final = re.compile(r"`([^`A-Za-z\n]+)`")
_SENTENCE: Final = re.compile(r"(?<=[\w)`\"'][.!?…]) +(?=[A-Z])|(?<=[\w)`\"'][.!?…]) +(?=we )")
_ABSENT: Final = re.compile(
    r"\b(?:not (?:using|adding|including|returning|setting|calling|having)|(?:does|do|is|are|was|did)(?:n'?t| not)"
    r"|without|(?<!vs )(?<!vs\. )missing|forgets?|forgot|lacks?|omits?|leaves? out)\b",
    re.I,
)
_UNABLE: Final = re.compile(
    r"\b(?:struggl\w+ (?:with|to)|can(?:'?t|not)|unable to|trouble with|not working|know (?:about|how|what))\b", re.I
)
_UNKNOWN: Final = re.compile(
    r"(?P<before>[^,;]+) (?:is|are|was|were) (?:unknown|new) to\b"
    r"|\b(?:unaware of|never heard of|ignorant of|(?:(?:do|did)(?:es)?(?:n'?t| not)|never) know(?: (?:about|of))?"
    r"(?! (?:about|of|how|when|where|what)))\b(?P<after>[^,;]+)",
    re.I,
)
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w%])")
_EXCUSED: Final = re.compile(r"\bnot (?:\w+ )?(?:asked|required|requested|demanded)\b", re.I)
_UNASKED: Final = re.compile(
    r"\b(?:not (?:\w+ )?(?:stated|specified|said|mentioned|clear|hinted)"
    r"|(?:task|TASK\.txt)[^.]*\b(?:does not|doesn'?t|should|ought to|could|never|is silent|unclear|ambiguous|vague)"
    r"|(?:should|ought to) (?:specify|say|state|mention|clarify|ask)|unspecified|ambiguous|leaves? (?:it )?open)",
    re.I,
)
_OVERLOOKED: Final = re.compile(
    r"\b(?:not|never|nor|nothing|cannot be) (?:\w+ )?(?:checked|tested|tried|noticed|measured|looked at|compared)\b"
    r"|\boverlooked\b|\bwithout being noticed\b|\bthen passes\b|\bpasses too\b",
    re.I,
)
_HARMLESS: Final = re.compile(
    r"(?:\bharmless\b|\b(?:but|and|which|that)(?: (?:is|are|that's|that is|it's|still))* (?:fine|ok|okay|all right)\b)"
    r"(?!.*\b(?:but|although|yet|tests?|lint)\b)",
    re.I,
)
# Nobody is to be blamed for it.
_ACCEPTED: Final = re.compile(
    r"\b(?:(?:is|are|would be)(?: (?:also|just|perfectly|totally|still|equally))* "
    r"(?:fine|ok|okay|acceptable|allowed|permitted)"
    r"|(?:not|isn'?t|aren'?t) an? (?:gap|problem|issue|mistake|failure))\b"
    r"|\b(?:do(?:es)?n'?t|do(?:es)? not|never|no need to|shouldn'?t|should not|need not|needn'?t) (?:\w+ )?"
    r"(?:count(?:ed)?|mind|matter|worry|care|penali[sz]ed?|be (?:counted|penali[sz]ed|blamed))\b"
    r"|\bcan be ignored\b|\bignore (?:it|this|that|these|them)\b",
    re.I,
)
_INSISTS: Final = re.compile(
    r"\b(?:grader|tests?|e?s?lint\w*|rules?|checks?|checked|compar\w+|expect\w*|insists?|strict\w*|but|yet|reject\w*|refus\w*|fail\w*)\b",
    re.I,
)
_REJECTED: Final = re.compile(r"\b(?:reject|refus|fail)\w*", re.I)
_UNFAIR: Final = re.compile(
    r"\b(?:silly|pedantic|picky|too strict|overly|unfair|brittle|flaky|fragile|irrelevant|unimportant|nitpick\w*"
    r"|arguab\w*|debatable|false positive|although|correct too|also (?:correct|valid|fine)|from time to time"
    r"|on a slow machine|grader expects|comparison|but (?:that|this|it)(?:'s| is) (?:just|only|hardly|not))\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Gap:
    """One entry. `does` is what an answer does, `lacks` the part of it that is missing, `wants` what it should do.

    `concepts`: kinds of causes that it names, and `besides` what else it says. `symbols`: code in it that is no name,
    such as `*/5` or `!`. `used`: what answers use in which kind of function. `unable`: it says
    that models do not manage it. `blames`: who it says is wrong. `excused`: it says that nobody asked for it.
    """

    text: str
    does: Terms
    lacks: Terms
    wants: Terms
    concepts: frozenset[str]
    besides: Terms
    symbols: frozenset[str]
    used: frozenset[str]
    unable: bool
    resolved: bool
    blames: Blame
    excused: bool
    unknown: frozenset[str]  # code of which it says that models do not know it
    numbers: frozenset[str]

    @property
    def terms(self) -> Terms:
        """On whatever side."""
        return Terms(self.does.code | self.wants.code, self.does.words | self.wants.words)

    @property
    def explains_failures(self) -> bool:
        """Not what passes although it should not, nor what does no harm."""
        if _ACCEPTED.search(self.text) and not _INSISTS.search(self.text):
            return False
        passes = _OVERLOOKED.search(self.text) or _HARMLESS.search(self.text)
        return bool(_REJECTED.search(self.text)) or not passes


def read_gaps(text: str) -> tuple[Gap, ...]:
    """Headings, "none" and "it works" are not entries."""
    parts = [" ".join(each.split()) for each in _ITEM.split(text)]
    return tuple(_entry(each) for part in parts if (each := _BULLET.sub("", part)) and not _is_empty(each))


def _is_empty(text: str) -> bool:
    """A heading, "none", or a report of success."""
    went_well = _SUCCESS.search(text) and not (_TROUBLE.search(text) or _MARK.match(text))
    return bool(_HEADING.match(text) or _NOTHING.match(text) or went_well)


def _entry(text: str) -> Gap:
    mark = _MARK.match(text)
    said = text[mark.end() :] if mark else text
    cause = _REMARK.sub("", _CONSEQUENCE.split(_without_comments(said))[0])
    does, *rest = _RATHER.split(cause, maxsplit=1)
    wants = rest[0] if rest else ""
    word = mark["mark"].lower() if mark else ""
    return Gap(
        text,
        terms_of(does),
        terms_of(does[lacking.end() :] if (lacking := _ABSENT.search(does)) else ""),
        terms_of(wants),
        frozenset(find_concepts(cause)),
        terms_of(without_concepts(cause)),
        frozenset(_SYMBOLS.findall(cause)),
        used_in(does),
        bool(_UNABLE.search(does)),
        word in ("resolved", "fixed", "done"),
        _blamed(word, said),
        bool(_EXCUSED.search(said)),
        code_terms((found["before"] or found["after"]) if (found := _UNKNOWN.search(does)) else ""),
        frozenset(_NUMBER.findall(said)),
    )


def _without_comments(text: str) -> str:
    """The first sentence, and of the others those that name code: the rest is what people think about it."""
    first, *others = _SENTENCE.split(text)
    return " ".join([first, *(each for each in others if code_terms(each))])


def _blamed(mark: str, text: str) -> Blame:
    match mark:
        case "task":
            return "task"
        case "check" | "resolved" | "fixed" | "done":
            return "check"
        case "model":
            return "model"
    if _UNASKED.search(text) or _EXCUSED.search(text):
        return "task"
    return "check" if _UNFAIR.search(text) else "model"
