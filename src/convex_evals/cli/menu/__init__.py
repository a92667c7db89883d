"""Questions on a terminal, and the menu that `convex-evals` alone opens there."""

from convex_evals.cli.menu.menu import open_menu
from convex_evals.cli.menu.questions import Offer, ask_one, ask_text

__all__ = ["Offer", "ask_one", "ask_text", "open_menu"]
