"""File names: what looks like one, and where models put them: headings, labels, info strings, first comments."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_EXTENSIONS: Final = re.compile(
    r"[cm]?[jt]sx?|json[c5]?|mdx?|txt|html?|s?css|sass|less|svg|xml|ya?ml|toml|ini|cfg|conf|env|lock|(?:ba|z)?sh|ps1|bat"
    r"|py|rb|go|rs|java|kt|swift|sql|graphql|gql|prisma|proto|csv|vue|svelte|astro|example|sample|local",
    re.IGNORECASE,
)
_WHOLE_NAMES: Final = frozenset({"Dockerfile", "Makefile", "Procfile", "LICENSE", "README", "CHANGELOG", "CODEOWNERS"})
_PRODUCTS: Final = frozenset({"node.js", "next.js", "react.js", "vue.js", "express.js", "nuxt.js", "three.js", "d3.js"})
_EXTENSION: Final = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,11})$")
_DOTFILE: Final = re.compile(r"(?:.*/)?\.[A-Za-z][\w.-]*$")
_ESCAPING: Final = re.compile(r"(?:^|[/\\])\.\.[/\\]|^~[/\\]|^[A-Za-z]:[/\\]")
_SYSTEM_FOLDERS: Final = re.compile(
    r"Applications|Library|System|Users|Volumes|Windows|bin|boot|dev|etc|home|lib\d*|media|mnt|opt|proc|root|run|sbin|srv"
    r"|sys|tmp|usr|var"
)


def is_file_name(text: str, *, spaces: bool = False) -> bool:
    """Whether anyone would say that this is the name of a file, wherever it stands."""
    if not _is_one_word(text, spaces=spaces) or text.lower() in _PRODUCTS:
        return False
    extension = _EXTENSION.search(text)
    known = extension is not None and (_EXTENSIONS.fullmatch(extension[1]) is not None or "/" in text)
    return known or text in _WHOLE_NAMES or bool(_DOTFILE.match(text) or _ESCAPING.search(text))


def is_listed_name(text: str) -> bool:
    """Whether this is the name of a file where names of files are expected."""
    return is_file_name(text) or (_is_one_word(text, spaces=False) and ("/" in text or bool(_EXTENSION.search(text))))


def plain_name(text: str) -> str:
    """The name without `./` or a leading slash, if that is all that is unusual about it.

    A path that could lead out of the project is left as it is, so that whoever writes files sees it and refuses.
    """
    path = text.strip()
    parts = path.split("/")
    if ".." in parts or "\\" in path or not path.isprintable() or parts[:2] == ["", ""]:
        return path
    if parts[0] == "" and len(parts) > 1 and not _SYSTEM_FOLDERS.fullmatch(parts[1]):
        parts = parts[1:]
    while len(parts) > 1 and parts[0] == ".":
        parts = parts[1:]
    return "/".join(parts)


def _is_one_word(text: str, *, spaces: bool) -> bool:
    return bool(text) and "://" not in text and "\n" not in text and (spaces or not re.search(r"\s", text))


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
    return _FILES.fullmatch(_plain_text(text).strip(" :.").lower()) is not None


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
    words = _plain_text(text)
    candidates = (words, _SUFFIX.sub("", words), _without_prefix(words), _SUFFIX.sub("", _without_prefix(words)))
    stripped = (candidate.strip("`\"' ") for candidate in candidates)
    return next((Name(candidate, certain=True) for candidate in stripped if accepts(candidate)), None)


def _mentioned_name(text: str) -> Name | None:
    words = [word.strip("`*()[],:;\"'") for word in text.split()]
    paths = [word for word in words if "/" in word and is_file_name(word)]
    return Name(paths[0], certain=False) if len(paths) == 1 else None


def _plain_text(text: str) -> str:
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
