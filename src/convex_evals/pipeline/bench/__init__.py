"""What grading costs here, next to doing the same the ordinary way in the same run."""

from convex_evals.pipeline.bench.profile import Profile, write_flame_graph
from convex_evals.pipeline.bench.run import PipelineFigures, measure_pipeline, profile_pipeline

__all__ = ["PipelineFigures", "Profile", "measure_pipeline", "profile_pipeline", "write_flame_graph"]
