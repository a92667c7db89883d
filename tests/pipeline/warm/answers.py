"""Answers for tests of warm tools, in folders like those of gradings."""

from collections.abc import Mapping
from pathlib import Path

from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.workspace import Workspace


def written(tools: Tools, root: Path, files: Mapping[str, str], below: str = "project") -> Workspace:
    """A workspace with these files and the toolchain's packages in its project, or in another of its folders."""
    workspace = Workspace(root)
    workspace.prepare()
    folder = root / below
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "node_modules").symlink_to(tools.toolchain.packages.node_modules, target_is_directory=True)
    return workspace
