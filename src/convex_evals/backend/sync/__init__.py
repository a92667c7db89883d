"""The WebSocket clients subscribe over: sessions, versions, transitions."""

from convex_evals.backend.sync.errors import BrokenInvariant, Disconnected
from convex_evals.backend.sync.interfaces import History, Socket
from convex_evals.backend.sync.outbox import SessionSettings
from convex_evals.backend.sync.server import SyncServer

__all__ = ["BrokenInvariant", "Disconnected", "History", "SessionSettings", "Socket", "SyncServer"]
