"""What a text is about: the code it names and the words it uses, reduced so that two texts can be compared."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

_CODE: Final = re.compile(
    r"`([^`\n]+)`|\"([^\"\n]{2,40})\""
    r"|(?<![\w@])(@[\w-]+/[\w/-]+|[a-z]+[A-Z]\w*|[A-Z][a-z]+\d*[A-Z]\w*|\w+_\w+|\.?[A-Za-z]\w*(?:\.\w+)+|\.[a-z]\w{2,}|\w{3,}(?=\(\))"
    r"|[a-z]+(?:-[a-z]+)+|TS\d{4}|/\w+/\S*)"
)
_IDENTIFIER: Final = re.compile(r"@[\w-]+/[\w/-]+|[A-Za-z_]\w*(?:-[a-z]+)+|[A-Za-z_]\w*")
_PHRASE: Final = re.compile(r"[\w@/.-]+(?: [\w@/.-]+)*")
_WORD: Final = re.compile(r"[a-z]{3,}")
_ENDINGS: Final = (
    *("ations", "ation", "ators", "ator", "ating", "ated", "ates", "ate", "ages", "age", "ings", "ing", "ions", "ion"),
    *("ed", "es", "ly", "s", "e"),
)
# Stems of words that people use for the same thing.
_SAME: Final = {
    "arg": "argument",
    "param": "parameter",
    "custom": "manual",
    "hand": "manual",
    "circular": "cycl",
    "recurs": "cycl",
    "overwrit": "replac",
}
# Words that say nothing about what a passage is about.
_EVERYWHERE: Final = frozenset(
    re.findall(
        r"\w+",
        """about after all also and another answer answers any are because been before being both but call called calls
        can cannot check checked code convex correctly could couldn did didn does doesn doing don each eval evals even
        every example export fail failed failing fails few file files find first for from get give given grader had
        has have here how into isn its itself just know knows least like look made make makes many may maybe means
        model models more most must need needs new non not now only other others our out over own put putting reason
        regular same second should since some still string struggle struggles struggling such
        take takes task tasks test tests than that the their them then there these they thing things think thinks this
        those though through too tries try trying use used uses using value values very want wants was wasn way well
        were what when where whether which while who will with without won work works would write writes written wrong
        you your""",
    )
)


class Terms(NamedTuple):
    """`code` in lower case, as it is written; `words` as stems, without those that the code is made of."""

    code: frozenset[str]
    words: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.code or self.words)


def terms_of(text: str) -> Terms:
    return Terms(code_terms(text), words_of(_CODE.sub(" ", text)))


def code_terms(text: str) -> frozenset[str]:
    """Phrases of words whole, such as "use node"; of everything else the names in it."""
    found: set[str] = set()
    for ticked, quoted, plain in _CODE.findall(text):
        phrase = (ticked or quoted or plain).strip(" ./(),;:\"'")
        if ticked and _IDENTIFIER.fullmatch(phrase):
            found.add(phrase.lower())  # whatever it is: someone has marked it as code
        elif plain or _PHRASE.fullmatch(phrase):
            found |= {phrase.lower()} - _EVERYWHERE
        else:
            found |= {each.lower() for each in _IDENTIFIER.findall(phrase)} - _EVERYWHERE
    return frozenset(term for term in found if len(term) > 2)


def identifiers(text: str) -> frozenset[str]:
    """Every name in a piece of code, in lower case."""
    return frozenset(each.lower() for each in _IDENTIFIER.findall(text))


@lru_cache(maxsize=4096)  # the sentences of a task are asked about every term of every gap
def words_of(text: str) -> frozenset[str]:
    spread = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
    return frozenset(stem(word) for word in _WORD.findall(spread.lower()) if word not in _EVERYWHERE)


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    short = next(
        (word.removesuffix(each) for each in _ENDINGS if word.endswith(each) and len(word) > len(each) + 2), word
    )
    return _SAME.get(short, short)
