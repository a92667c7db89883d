"""Builds a model's React app as Vite would: one bundle of `src/main.tsx` and what it imports."""

import json
import subprocess
from pathlib import Path
from typing import Final

from convex_evals.pipeline.grading.kit.errors import AppBroken, ToolCrashed

ENTRY: Final = "src/main.tsx"
BUNDLE: Final = "app"
SECONDS: Final = 30.0
_ASSETS: Final = (".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".woff", ".woff2")
_OPTIONS: Final = (
    "--bundle",
    "--format=esm",
    "--target=es2022",
    # Instead of the project's own tsconfig.json, which Vite does not ask about JSX either.
    '--tsconfig-raw={"compilerOptions":{"jsx":"react-jsx"}}',
    f"--entry-names={BUNDLE}",
    *(f"--loader:{suffix}=dataurl" for suffix in _ASSETS),
    "--log-level=error",
    "--log-limit=5",
    "--color=false",
)


def build_app(project: Path, deployment_url: str, esbuild: Path, output: Path) -> None:
    """Writes `app.js` and perhaps `app.css` into `output`. Raises AppBroken, ToolCrashed."""
    command = [str(esbuild), ENTRY, *_OPTIONS, *_definitions(deployment_url), f"--outdir={output}"]
    try:
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolCrashed(f"esbuild did not build the app: {error}") from error
    if done.returncode < 0:
        raise ToolCrashed(f"esbuild was killed by signal {-done.returncode} while it built the app")
    if done.returncode > 0:
        raise AppBroken(f"the app cannot be built from {ENTRY}:\n{_without_blank_lines(done.stderr)}")


def _definitions(url: str) -> list[str]:
    """What Vite, and other bundlers in their way, put in the place of these expressions."""
    vite = {"VITE_CONVEX_URL": url, "MODE": "production", "PROD": True, "DEV": False, "SSR": False, "BASE_URL": "/"}
    process = {"NODE_ENV": "production", "CONVEX_URL": url}
    return [f"--define:import.meta.env={json.dumps(vite)}", f"--define:process.env={json.dumps(process)}"]


def _without_blank_lines(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip())
