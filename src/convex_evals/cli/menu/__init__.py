"""The menu that `convex-evals` alone opens on a terminal."""

from convex_evals.cli.menu.menu import open_menu

__all__ = ["open_menu"]
