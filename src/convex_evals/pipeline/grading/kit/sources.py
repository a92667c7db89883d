"""The fixture `files`: what the model wrote. For checks that behaviour cannot make."""

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

from ast_grep_py import SgRoot

from convex_evals.pipeline.grading.kit.assertions import closest
from convex_evals.pipeline.grading.kit.syntax import Call, Module
from convex_evals.pipeline.project_config import parse_jsonc

NOT_WRITTEN: Final = frozenset({"node_modules", "_generated", ".git", "dist"})
LANGUAGES: Final = {
    ".ts": "typescript",
    ".mts": "typescript",
    ".tsx": "tsx",
    ".js": "tsx",
    ".jsx": "tsx",
    ".mjs": "tsx",
}


@dataclass(frozen=True)
class Sources:
    """Paths are relative to the project, like `convex/messages.ts`. Generated files are not among them."""

    root: Path
    _modules: dict[str, Module] = field(default_factory=dict, repr=False)

    def paths(self, pattern: str = "**/*") -> list[str]:
        """All files that match a glob, sorted."""
        found = (path.relative_to(self.root) for path in self.root.glob(pattern))
        return sorted(path.as_posix() for path in found if self._is_written(path))

    def exists(self, path: str) -> bool:
        return self._is_written(Path(path))

    def text(self, path: str) -> str:
        if not self.exists(path):
            raise AssertionError(f"there is no file {path}; {closest(path, self.paths())}")
        return (self.root / path).read_text(errors="replace")

    @property
    def package_json(self) -> dict[str, Any]:
        return self.json("package.json")

    def json(self, path: str) -> dict[str, Any]:
        """The object in a JSON file; comments and trailing commas are allowed, as in tsconfig.json."""
        try:
            content = parse_jsonc(self.text(path))
        except ValueError as error:
            raise AssertionError(f"{path} is not valid JSON: {error}") from error
        if not isinstance(content, dict):
            raise AssertionError(f"{path} must hold a JSON object, not {content!r}")
        return content

    def module(self, path: str) -> Module:
        """A TypeScript or JavaScript file, parsed."""
        if path not in self._modules:
            language = LANGUAGES[PurePosixPath(path).suffix]
            self._modules[path] = Module(SgRoot(self.text(path), language).root(), path)
        return self._modules[path]

    def modules(self, pattern: str = "convex/**/*") -> list[Module]:
        """All TypeScript and JavaScript files that match a glob, parsed."""
        return [self.module(path) for path in self.paths(pattern) if PurePosixPath(path).suffix in LANGUAGES]

    def imported_calls(self, source: str, name: str, pattern: str = "src/**/*") -> list[Call]:
        """Calls of a function that a package exports, in all files that match, whatever they call it."""
        return [call for module in self.modules(pattern) for call in module.imported_calls(source, name)]

    def _is_written(self, path: Path) -> bool:
        full = self.root / path
        return not NOT_WRITTEN.intersection(path.parts) and full.is_file() and not full.is_symlink()
