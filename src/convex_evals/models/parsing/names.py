"""File names, wherever models put them: headings, labels, info strings, first comments."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from convex_evals.models.parsing.file_names import is_file_name, is_listed_name

_CODE_SPAN: Final = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)")
_LINK: Final = re.compile(r"\[(?P<text>[^\]]+)\]\([^)]*\)")
_ESCAPE: Final = re.compile(r"\\(?=[!#()*+\-.\[\]_`{}~])")
_PICTURE: Final = re.compile(r"^[^\w\s./\\@$(\[`*~+#<>'\"-]+\s*")
# "1.", "- ", "Step 2:", "File:", "New file 3 -", "Create": words before a name that say nothing about it.
_PREFIX: Final = re.compile(
    r"""^(?:
        [-*+]\s+
        | \d+[.):]\s*
        | (?:step|part)\s*\d*\s*[:.)–—-]\s*
        | (?:(?:new|updated|modified|full|complete|final)\s+)*file\s*(?:name|path)?\s*\d*\s*[:.)–—-]?\s+
        | (?:filename|filepath|path)\s*[:=]\s*
        | (?:create|update|add|write|edit|modify|replace|then|and|now|first|next|finally|new|in)\s*:?\s+
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SUFFIX: Final = re.compile(r"(?:\s*:|\s+\([^()]*\)|\s+[–—-]\s.*|:\s.*)$", re.DOTALL)
_EMPHASIS: Final = re.compile(r"^(?P<marker>\*{1,3})(?P<text>.+?)(?P=marker)(?P<rest>.*)$", re.DOTALL)
_FILES: Final = re.compile(r"(?:(?:the|all|my|final|output|project|generated|updated|complete|source)\s+)*files?")
_ATTRIBUTE: Final = re.compile(
    r"""\b(?:title|file|filename|file_name|filepath|path|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'}]+))""",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"^\s*(?P<mark>//+|/\*+|\#+|<!--|--|;+)\s*(?P<text>.*?)\s*(?:\*+/|-->)?\s*$")
_HASH_IS_CODE: Final = frozenset(
    {"ts", "tsx", "js", "jsx", "typescript", "javascript", "mjs", "json", "md", "markdown"}
)


@dataclass(frozen=True, slots=True)
class Name:
    """`certain`: what follows is that file. Otherwise the name is only mentioned, so it may be an extract or a use."""

    text: str
    certain: bool


def is_files_heading(text: str) -> bool:
    return _FILES.fullmatch(_plain(text).strip(" :.").lower()) is not None


def name_in_heading(text: str, *, in_files: bool) -> Name | None:
    """`in_files`: the heading stands below one that says "Files", so it is more likely to be a name."""
    accepts = is_listed_name if in_files else is_file_name
    return _coded_name(text) or _certain_name(text, accepts) or _mentioned_name(text)


def name_in_label(line: str) -> Name | None:
    """The line right before a code block."""
    coded = _coded_name(line)
    if coded is None or not (coded.certain or line.rstrip(" *").endswith((":", "`"))):
        return _certain_name(line, is_file_name)
    return coded


def name_in_info(info: str) -> str | None:
    """```ts convex/a.ts, ```ts title="convex/a.ts", ```typescript:convex/a.ts and their like."""
    attribute = _ATTRIBUTE.search(info)
    if attribute:
        value = next(group for group in attribute.groups() if group is not None).strip()
        return value if is_file_name(value, spaces=True) else None
    language, colon, path = info.partition(":")
    if colon and language.isalnum() and is_file_name(path.strip()):
        return path.strip()
    tokens = (token.strip("`*()[]{},;\"'") for token in info.split())
    return next((token for token in tokens if is_file_name(token)), None)


def name_in_comment(line: str, language: str) -> str | None:
    comment = _COMMENT.match(line)
    if comment is None or (comment["mark"].startswith("#") and language in _HASH_IS_CODE):
        return None
    text = _without_prefix(comment["text"]).strip("`*\"' ")
    return text if is_file_name(text) else None


def _coded_name(text: str) -> Name | None:
    spans = [match for match in _CODE_SPAN.finditer(text) if is_file_name(match["code"].strip(), spaces=True)]
    if len(spans) != 1:
        return None
    before, after = text[: spans[0].start()], text[spans[0].end() :]
    certain = not _without_prefix(_PICTURE.sub("", before)).strip("*_ ([") and not _SUFFIX.sub("", after).strip("*_ )]")
    return Name(spans[0]["code"].strip(), certain)


def _certain_name(text: str, accepts: Callable[[str], bool]) -> Name | None:
    words = _plain(text)
    candidates = (words, _SUFFIX.sub("", words), _without_prefix(words), _SUFFIX.sub("", _without_prefix(words)))
    stripped = (candidate.strip("`\"' ") for candidate in candidates)
    return next((Name(candidate, certain=True) for candidate in stripped if accepts(candidate)), None)


def _mentioned_name(text: str) -> Name | None:
    words = [word.strip("`*()[],:;\"'") for word in text.split()]
    paths = [word for word in words if "/" in word and is_file_name(word)]
    return Name(paths[0], certain=False) if len(paths) == 1 else None


def _plain(text: str) -> str:
    """Without pictures, emphasis, links and escapes around the words."""
    text = _PICTURE.sub("", text.strip())
    text = _without_bullet(text)
    while emphasis := _EMPHASIS.match(text):
        text = f"{emphasis['text']}{emphasis['rest']}"
    link = _LINK.fullmatch(text)
    return _ESCAPE.sub("", link["text"] if link else text).strip()


def _without_bullet(text: str) -> str:
    return re.sub(r"^(?:[-+]|\*(?!\S)|\d+[.)])\s+", "", text)


def _without_prefix(text: str) -> str:
    while prefix := _PREFIX.match(text):
        text = text[prefix.end() :]
    return text
