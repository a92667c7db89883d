from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Write = Callable[[str, str | bytes], Path]
WriteEval = Callable[..., Path]

GOOD_EVAL: Mapping[str, str | bytes] = {
    "TASK.txt": "Write a query.\n",
    "answer/package.json": '{"dependencies": {"convex": "1.44.0"}}\n',
    "answer/convex/index.ts": "export {};\n",
    "grader.py": "def test_nothing() -> None: ...\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "evals"
    folder.mkdir()
    return folder


@pytest.fixture
def write(root: Path) -> Write:
    def write(name: str, content: str | bytes) -> Path:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def write_eval(root: Path, write: Write) -> WriteEval:
    """Writes a good eval; `changes` add, replace or (with None) leave out files."""

    def write_eval(name: str = "000-basics/000-first", changes: Mapping[str, str | bytes | None] | None = None) -> Path:
        files: dict[str, str | bytes | None] = {**GOOD_EVAL, **(changes or {})}
        (root / name).mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            if content is not None:
                write(f"{name}/{file}", content)
        return root / name

    return write_eval
