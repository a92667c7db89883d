"""What a cluster costs and gains, and how the commands do with thousands of evals."""

from convex_evals.runner.bench.cluster import ClusterFigures, measure_cluster
from convex_evals.runner.bench.scale import ScaleFigures, measure_scale

__all__ = ["ClusterFigures", "ScaleFigures", "measure_cluster", "measure_scale"]
