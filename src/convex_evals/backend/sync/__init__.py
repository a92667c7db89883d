"""The WebSocket clients subscribe over: sessions, versions, transitions."""

from convex_evals.backend.sync.errors import BrokenInvariant, Disconnected
from convex_evals.backend.sync.history import DatabaseHistory
from convex_evals.backend.sync.joints import Socket
from convex_evals.backend.sync.outbox import SessionSettings
from convex_evals.backend.sync.server import SyncServer

__all__ = ["BrokenInvariant", "DatabaseHistory", "Disconnected", "SessionSettings", "Socket", "SyncServer"]
