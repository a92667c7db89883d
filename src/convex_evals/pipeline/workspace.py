"""The folders of one grading. Everything that a step writes is below one of them."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Workspace:
    """`root` belongs to one grading alone and is empty at first; whoever made it removes it.

    No program may reach `root` as a whole: each step hands its program the folders that it needs.
    """

    root: Path

    @property
    def project(self) -> Path:
        """What the model wrote, with `node_modules` and `convex/_generated` added."""
        return self.root / "project"

    @property
    def checked(self) -> Path:
        """A copy of the project with our tsconfigs, for the compiler and the linter."""
        return self.root / "checked"

    @property
    def configuration(self) -> Path:
        """What we tell the tools: they read it, and nobody else writes it."""
        return self.root / "configuration"

    @property
    def home(self) -> Path:
        """HOME of every program."""
        return self.root / "home"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    def prepare(self) -> None:
        for folder in (self.project, self.configuration, self.home, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
