"""Grading on many machines: workers are Ray actors, and everything travels as values."""

from convex_evals.runner.cluster.cluster import Cluster, RemoteWorker, open_cluster, start_cluster
from convex_evals.runner.cluster.node import RemoteGrade

__all__ = ["Cluster", "RemoteGrade", "RemoteWorker", "open_cluster", "start_cluster"]
