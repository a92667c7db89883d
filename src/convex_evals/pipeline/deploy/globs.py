"""Which files of a reference answer are meant: `*.ts` by name at any depth, `convex/**` from the top."""

import re
from collections.abc import Iterable
from functools import cache


def matches(path: str, globs: Iterable[str]) -> bool:
    return any(_pattern(glob).fullmatch(path if "/" in glob else path.rpartition("/")[2]) for glob in globs)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob.removeprefix("./"))
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meanings.get(part, re.escape(part)) for part in parts))
