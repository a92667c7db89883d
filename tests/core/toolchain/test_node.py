from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.core.errors import ToolchainError
from convex_evals.core.processes import run
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import find_node


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


async def test_the_node_of_the_wheel_is_the_program_itself(settings: Settings, tmp_path: Path) -> None:
    node = await find_node(settings)
    with node.executable.open("rb") as file:
        assert file.read(2) != b"#!"
    printed = (await run([node.executable, "--version"], cwd=tmp_path, timeout=60)).output.text
    assert printed == f"v{node.version}\n"
    assert node.npm.name == "npm-cli.js"


async def test_a_chosen_node_is_used_if_it_is_new_enough(settings: Settings, tmp_path: Path) -> None:
    chosen = script(tmp_path / "node", "#!/bin/sh\necho v22.1.0\n")
    node = await find_node(replace(settings, node=chosen))
    assert (node.executable, node.version) == (chosen, "22.1.0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#!/bin/sh\necho v20.19.0\n", "is Node 20.19.0, which is too old; name a Node 22 or newer"),
        ("#!/bin/sh\necho hello\n", r"does not answer --version like Node \(exit code 0\)"),
        ("#!/bin/sh\nexit 3\n", r"does not answer --version like Node \(exit code 3\)"),
        ("#!/no/such/interpreter\n", "Cannot start .* name a Node 22"),
    ],
)
async def test_a_chosen_node_that_is_unsuitable_is_refused(
    settings: Settings, tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ToolchainError, match=message):
        await find_node(replace(settings, node=script(tmp_path / "node", text)))
