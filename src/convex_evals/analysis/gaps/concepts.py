"""Kinds of causes without a name of their own: how they show in code and in what tools say, and what people call them.

An entry of GAPS.txt says "type cycle" and the compiler "referenced in its own initializer": without this table the two
have no word in common. It knows Convex, TypeScript and React, and nothing about any eval.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, get_args


@dataclass(frozen=True, slots=True)
class Concept:
    name: str
    shown: re.Pattern[str]  # in code, and in what tools say
    said: re.Pattern[str]  # in what people write
    lacked: re.Pattern[str] | None = None  # what an answer does not have then, and the reference has


def _concept(name: str, shown: str, said: str, lacked: str | None = None) -> Concept:
    return Concept(name, re.compile(shown), re.compile(said, re.I), re.compile(lacked) if lacked else None)


CONCEPTS: Final[tuple[Concept, ...]] = (
    _concept(
        "type cycle",
        r"\bTS702[234]\b|its own initializer|references itself|circularly",
        r"(?<![\"'`])\b(?:circular\w*|cycl\w+|type loops?|self-referen\w+|references? (?:it|them)sel(?:f|ves))\b",
    ),
    _concept(
        "dotted path",
        r"[\"'][a-z]\w*(?:\.[a-z]\w*)+[\"']\]?\s*:",
        r"\bdott?ed\b|\bdot[- ](?:notation|paths?|syntax)\b|\bmongo\w*\b|\bstring paths?\b",
    ),
    _concept(
        "route pattern",
        r"\bpath:\s*[\"'`][^\"'`]*(?:/:\w|\*)|\bpathPrefix\b",
        r"\bpath ?prefix\w*\b|\bprefix ?path\w*\b|\bprefix\b|\bwild ?cards?\b|\bpath param\w*\b|\broute param\w*\b",
    ),
    _concept(
        "express",
        r"\b(?:http|router|app)\.(?:get|post|put|patch|delete|use)\(|\breq(?:uest)?\.(?:params|query|body)\.",
        r"\bexpress\b|\bhono\b",
    ),
    _concept("node directive", r"[\"'`]use node[\"'`]", r"\buse node\b|\bnode(?:\.js)? (?:directive|runtime)\b"),
    _concept(
        "node types",
        r"@types/node\b|Cannot find name '(?:process|Buffer|require|module|__dirname)'|\bTS25(?:80|91)\b",
        r"@types/node\b|\bnode(?:\.js)? (?:types|typings)\b",
    ),
    _concept(
        "node modules",
        r"\bBuffer\b|[\"'](?:node:)?(?:crypto|fs|path|zlib|util|stream|os|http)[\"']",
        r"\bnode(?:\.js)? (?:modules?|globals?|built-?ins?|apis?)\b|\bBuffer\b",
    ),
    _concept(
        "native package",
        r"No loader is configured for \"\.node\"|\bexternalPackages\b|\bnode-gyp\b|\.node\b[\"'`]",
        r"\bnative (?:\w+ )?(?:modules?|packages?|add-?ons?|binar\w+|bindings?|dependenc\w+)\b|\bexternalPackages\b"
        r"|\b(?:can(?:'?t|not)|not|won'?t) (?:be )?bundled?\b",
    ),
    _concept(
        "unbounded read",
        r"\.collect\(\)|\bToo many (?:documents|reads|bytes)\b",
        r"\bcollect(?:s|ed|ing)?\b|\b(?:whole|entire|full) table\b|\bunbounded\b|\ball (?:rows|documents) at once\b"
        r"|\b(?:load|read|fetch|get|pull|scan)(?:e?s|ed|ing)? (?:all|every|everything)\b",
    ),
    _concept(
        "promise handler",
        r"\bon[A-Z]\w*=\{\s*async\b|no-misused-promises|\basync\b[^\n]{0,40}\bon[A-Z]\w+",
        r"\basync (?:\w+ )?handlers?\b|\bmisused[- ]promises?\b",
    ),
    _concept(
        "missing await",
        r"no-floating-promises|\bpromises must be awaited\b",
        r"\b(?:missing|forg\w+|without|no|not) (?:an? |the )?`?await\w*`?|\bfloating promises?\b|\bunawaited\b"
        r"|n't await",
    ),
    _concept(
        "any",
        r":\s*any\b|\bas any\b|<any>|\bno-explicit-any\b|\bno-unsafe-\w+",
        r"\bunsafe any\b|\b(?:as|uses?|using|typed|implicit\w*|`)\s?any\b|\buntyped\b",
    ),
    _concept(
        "own pagination",
        r"\.take\(|\.slice\(|\bcursor\b(?![^\n]*\bpaginate\()",
        r"\b(?:manual\w*|custom|hand-?\w*|own|themsel\w+|by hand|offset\w*)\b[^.\n]*\b(?:paginat\w+|cursors?|pages?)\b"
        r"|\b(?:paginat\w+|cursors?|pages?)\b[^.\n]*\b(?:manual\w*|by hand|offset\w*|themsel\w+)\b",
    ),
    _concept(
        "scheduling",
        r"\bscheduler\b|\brunAfter\b|\brunAt\b|\bsetTimeout\b|'scheduler' does not exist",
        r"\bschedul\w+\b|\bset ?time ?out\b",
    ),
    _concept(
        "visibility",
        r"\binternal(?:Query|Mutation|Action)\b",
        r"\b(?:public|private|internal)\b(?! ?[.*])",
    ),
    _concept(
        "filter instead of an index",
        r"\.filter\(\s*\(?q\b|\bq\.field\(",
        r"\bfilter(?:s|ed|ing)?\b[^.\n]*\bind(?:ex|ices)\w*|\bind(?:ex|ices)\w*[^.\n]*\bfilter\w*|\btable scans?\b"
        r"|\b(?:no|without|missing) (?:an? )?index\b",
        lacked=r"\.withIndex\(",
    ),
    _concept(
        "filter in code",
        r"\.filter\(\s*(?:async )?\(?(?!q\b)[a-z]\w*\)?\s*(?::\s*\w+)?\s*=>"
        r"|does not exist on type 'FilterBuilder",
        r"\bArray(?:\.prototype)?\.filter\b"
        r"|\b(?:JS|JavaScript|array|in[- ]memory|user ?space|callbacks?|predicates?)\b[^.\n]*\bfilter\w*"
        r"|\bfilter\w*\b[^.\n]*"
        r"\b(?:in (?:JS|JavaScript|memory|code|user ?space)|callbacks?|predicates?|afterwards)\b",
    ),
    _concept(
        "existence check",
        r"\bpossibly '(?:null|undefined)'|\bTS(?:2531|2532|18047|18048)\b"
        r"|\bCannot read propert\w+ of (?:null|undefined)|\bif \(!\w+\)|[=!]==? null\b",
        r"\bnull[- ]checks?\b|\bcrash\w* on null\b"
        r"|(?:n't|\b(?:not|never|without|no|forgets?(?: to)?)) (?:check\w*|verif\w+|handl\w+|test\w*)\b[^.\n]*"
        r"\b(?:exist\w*|null|missing|there|found)\b",
    ),
    _concept(
        "import",
        r"\bno exported member\b|\bNo matching export\b|\bCannot find module\b|\bTS(?:2305|2307|2614|2724)\b"
        r"|\bfrom [\"'][^\"'\n]+[\"']",
        r"\bwrong (?:imports?|modules?|packages?)\b|\bimport\w* (?:[\w`.]+ ){1,6}from\b"
        r"|\bwhere\b[^.\n]*\b(?:comes? from|exported|to import)\b",
    ),
    _concept("default export", r"\bexport default\b", r"\bdefault[- ]export\w*\b"),
    _concept(
        "router",
        r"\bhttpRouter\(|\bhttp\.route\(",
        r"\brouters?\b|\bregist\w+\b[^.\n]*\b(?:routes?|http\w*|handlers?)\b",
    ),
    _concept(
        "sorting",
        r"\.(?:order|sort|toSorted|reverse|toReversed)\(",
        r"\bsort(?:s|ed|ing)?\b|\b(?:de|a)scending\b|\bwrong order\b|\b(?:new|old)est first\b",
    ),
    _concept(
        "dates",
        r"\bnew Date\(|\bv\.date\b|\btoISOString\b",
        r"\bdate objects?\b|\bISO (?:strings?|dates?)\b|\bdates? as (?:strings?|text)\b",
    ),
    _concept(
        "spread",
        r"(?<=[{\[(,\s])\.\.\.[a-z]\w*(?=[\s,.}\])])",
        r"\bspread(?:s|ing)?\b|\bmerg(?:es?|ing)\b|\bexisting (?:object|fields?)\b",
    ),
    _concept(
        "generated module",
        r"_generated/(?:server|api|dataModel)\b",
        r"\bgenerated (?:files?|modules?|server|api)\b|_generated\b",
    ),
    _concept(
        "function reference",
        r"\bfunctionReference\b|run(?:Query|Mutation|Action)\(\s*[\"'`]",
        r"\bfunction ?references?\b|\breferences? to (?:a |the )?functions?\b"
        r"|\bfunctions? by (?:its |a )?(?:name|string)s?\b",
    ),
    _concept(
        "call within",
        r"\bctx\.run(?:Query|Mutation)\b",
        r"\bctx\.run\w+\b|\brun(?:Query|Mutation|Action)\b|\bhelper functions?\b"
        r"|\bplain (?:\w+ )?(?:helper|function)s?\b",
    ),
    _concept("percent", r"\* ?100\b(?!0)|/ ?100\b(?!0)", r"\bper ?cent\w*|\b0 ?(?:-|to) ?100\b|%"),
    _concept(
        "duplicates",
        r"\btwice\b|\bduplicate\w*|\bexisting\b|\balready\b|\bsecond time\b",
        r"\bde-?dup\w*|\bduplicat\w*|\btwice\b|\bidempoten\w*|\balready exist\w*|\bsecond time\b",
    ),
    _concept(
        "whole documents",
        r"\b_creationTime\b(?=[^\n]{0,200}\bto (?:deeply |strictly )?equal\b)|\b(?:extra|additional) fields?\b",
        r"\b(?:whole|full|complete|entire|raw) (?:documents?|docs?|rows?|records?)\b"
        r"|\b(?:too many|extra|all(?: the)?) fields\b",
    ),
    _concept(
        "plain error",
        r"\bnew Error\(",
        r"\b(?:plain|regular|normal|ordinary|generic|simple) `?Errors?\b"
        r"|\bErrors? (?:instead of|rather than) (?:a )?`?ConvexError"
        r"|\b(?:no|not|without|instead of) (?:an? |using )?`?ConvexErrors?\b",
    ),
    _concept(
        "literal types",
        r"\bas const\b"
        r"|\b(?:boolean|string|number)\b[^\n]{0,80} is not assignable to [^\n]{0,40}?(?:\b(?:true|false)\b|'\")",
        r"\bas const\b|\bliteral types?\b",
    ),
    _concept(
        "id as text",
        r"\bSet<string>|\bRecord<string,|not assignable to (?:type|parameter of type) 'Id<|Id: v\.string\(\)",
        r"\bids? (?:as|are|is|like) (?:plain )?(?:strings?|text)\b|\bstring ids?\b"
        r"|\bstrings? (?:for|as|instead of) (?:\w+ )?ids?\b",
    ),
    _concept(
        "null or absent",
        r"\bv\.optional\(|\bv\.null\(|\bundefined\b",
        r"\b(?:optional|nullable|null|undefined|absent)\b[^.\n]*\b(?:optional|nullable|null|undefined|absent)\b",
    ),
    _concept(
        "returns validator",
        r"\breturns[\"']?:|\bReturnsValidationError\b",
        r"\breturns?[- ]validators?\b|\breturns:|\bvalidators? (?:of|for) (?:the )?(?:results?|returns?)\b",
    ),
    _concept(
        "JSX",
        r"\bJSX\b|\bjsx-runtime\b",
        r"\bJSX\b|<tags?>|(?<![\w])\.tsx\b",
    ),
    _concept(
        "parallel",
        r"\bPromise\.all\b|no-await-in-loop|\bfor (?:await )?\([^)]*\)\s*\{[^}]*\bawait\b",
        r"\bparallel\w*\b|\bPromise\.all\b|\bone (?:by one|after another)\b|\bsequential\w*\b|\bconcurren\w+\b",
    ),
    _concept("iterating a query", r"\.iter\(|\bfor await\b", r"\.?\biter(?:ator|ate|ating|ators)?\b|\bfor await\b"),
    _concept(
        "type annotation",
        r"\bimplicitly has\b|\)\s*:\s*Promise<|\bno exported member '[A-Z]"
        r"|\bCannot find name '[A-Z]\w*(?:Ctx|Context|Doc|Id)\b",
        r"\btype (?:annotation|declaration)s?\b|\bannotat\w+\b|\breturn types?\b|\bPromise<",
    ),
)


Found = Mapping[str, frozenset[str]]
"""The concepts of a text by name, each with the passages that show it."""


@lru_cache(maxsize=128)  # of one task and one failure, for every gap
def find_concepts(text: str) -> Found:
    found = {each.name: frozenset(_passages(each, text)) for each in CONCEPTS}
    return {name: passages for name, passages in found.items() if passages}


def differing_concepts(model: str, expected: str) -> frozenset[str]:
    """Those that the two texts do not show in the same way, or that the model's shows by what it lacks."""
    first, second = find_concepts(model), find_concepts(expected)
    shown = {name for name in {*first, *second} if first.get(name) != second.get(name)}
    lacking = {each.name for each in CONCEPTS if each.lacked and _lacks(each.lacked, model, expected)}
    return frozenset(shown | lacking)


def concepts_of_one_side(model: str, reference: str) -> frozenset[str]:
    """Where nobody says which part of the reference is meant: those that the reference shows nowhere."""
    return frozenset(find_concepts(model).keys() - find_concepts(reference).keys())


def _lacks(pattern: re.Pattern[str], model: str, expected: str) -> bool:
    return pattern.search(model) is None and pattern.search(expected) is not None


def without_concepts(text: str) -> str:
    """What is left when the passages are taken out that a concept stands for."""
    for each in CONCEPTS:
        text = each.said.sub(" ", text)
    return text


def _passages(concept: Concept, text: str) -> Iterator[str]:
    for pattern in (concept.shown, concept.said):
        yield from ("".join(match[0].lower().split()) for match in pattern.finditer(text))


Kind = Literal["query", "mutation", "action"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_DECLARED: Final = re.compile(r"(?<![.\w])(?:internal|http)?(?P<kind>query|mutation|action)\(", re.I)
_PLACED: Final = re.compile(
    r"\b(?:is|as|in|from|inside|within)(?: (?:an?|the|public|internal|http))* [`'\"]?(?:internal|http)?"
    r"(?P<kind>quer|mutation|action)(?:y|ies|s)?\b",
    re.I,
)
_CONTEXT: Final = re.compile(r"(?P<kind>Query|Mutation|Action)Ctx\b")
_STORAGE: Final[tuple[tuple[str, Kind], ...]] = (("'StorageReader'", "query"), ("'StorageWriter'", "mutation"))
_PARTS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("storage", re.compile(r"\bstorage\b|\bstor(?:e|es|ed|ing)\b|\bupload\w*", re.I)),
    ("scheduler", re.compile(r"\bschedul\w+", re.I)),
    ("database", re.compile(r"\bctx\.db\b|\bdatabase\b|'db'|\bdb (?:access|calls?|queries|reads?|writes?)\b", re.I)),
    ("network", re.compile(r"\bfetch(?:es|ing)?\b(?! the (?:user|item|doc))|\bHTTP requests?\b|\bexternal API", re.I)),
)


def kinds_of(text: str) -> frozenset[Kind]:
    """The kinds of functions in which it happens, by code, by the types of contexts, or in words.

    "Stores the file in a mutation" and `mutation({ … ctx.storage.store(…) … })` are the same cause; a scheduler in a
    query and a scheduler in an action are two.
    """
    found = {each["kind"].lower() for each in (*_DECLARED.finditer(text), *_PLACED.finditer(text))}
    found |= {each["kind"].lower() for each in _CONTEXT.finditer(text)}
    named: set[Kind] = {kind for mark, kind in _STORAGE if mark in text}
    return frozenset(named | {kind for kind in KINDS if any(each.startswith(kind[:4]) for each in found)})


def used_in(text: str) -> frozenset[str]:
    """Which part of Convex is used in which kind of function, such as "storage in a mutation"."""
    kinds = kinds_of(text)
    return frozenset(f"{part} in {kind}" for part, shown in _PARTS if shown.search(text) for kind in kinds)
