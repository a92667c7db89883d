"""What grading costs here, next to doing the same the ordinary way in the same run."""

from convex_evals.pipeline.bench.run import PipelineFigures, measure_pipeline

__all__ = ["PipelineFigures", "measure_pipeline"]
