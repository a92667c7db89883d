"""What looks like the name of a file, and how such a name is made plain."""

import re
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
