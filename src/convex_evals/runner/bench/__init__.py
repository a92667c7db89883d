"""What a cluster costs and gains: overhead against one machine, and throughput against the number of workers."""

from convex_evals.runner.bench.run import ClusterFigures, measure_cluster

__all__ = ["ClusterFigures", "measure_cluster"]
