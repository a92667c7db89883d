"""Who is at the keyboard, for records that say who decided something."""

import asyncio
import getpass
from pathlib import Path

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import Settings, read_settings


def author_name() -> str:
    """As git knows the user, else as the system does."""
    told = asyncio.run(_git_user_name(read_settings()))
    if told:
        return told
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


async def _git_user_name(settings: Settings) -> str:
    """Empty when git is not there, or does not know."""
    environment = base_environment(settings.home, path=settings.search_path)
    question = ("git", "config", "user.name")
    try:
        told = await run(question, cwd=Path.cwd(), timeout=10, environment=environment, separate_errors=True)
    except ProcessError:
        return ""
    return told.output.text.strip() if told.ok else ""
