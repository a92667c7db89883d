"""The application that is deployed now."""

from collections.abc import Callable

from convex_evals.backend.deployed.application import Application

Listener = Callable[[Application], None]


class CurrentApplication:
    """One per deployment. A push replaces the application at its commit point; calls under way keep theirs."""

    def __init__(self, application: Application | None = None) -> None:
        self.application = application
        self._listeners: list[Listener] = []

    def on_change(self, listener: Listener) -> None:
        """`listener` is called with every application that becomes current from now on."""
        self._listeners.append(listener)

    def replace(self, application: Application) -> None:
        self.application = application
        for listener in self._listeners:
            listener(application)
