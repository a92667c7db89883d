"""The programs a vitest grader may start by name: `node`, and what `npx` finds without asking a registry."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

NPX: Final = """#!/bin/sh
# Runs the command of a package that is installed; never fetches one.
while [ "${{1#-}}" != "$1" ]; do shift; done
name=$1; shift
for folder in {folders}; do
  [ -x "$folder/$name" ] && exec "$folder/$name" "$@"
done
echo "npx: $name is not installed" >&2
exit 127
"""


def write_commands(folder: Path, node: Path, package_folders: Sequence[Path]) -> str:
    """Fills `folder` and returns the PATH that begins with it."""
    folder.mkdir()
    (folder / "node").symlink_to(node)
    programs = [packages / ".bin" for packages in package_folders]
    script = NPX.format(folders=" ".join(shlex.quote(str(path)) for path in programs))
    for name in ("npx", "bunx"):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return ":".join(map(str, [folder, *programs]))
