"""What pages cost over a large history that is made up, and what a service does under load."""

from convex_evals.web.bench.run import PageFigures, WebFigures, measure_web, temporary_database
from convex_evals.web.bench.service import Load, RequestFigures, ServiceFigures, measure_service

__all__ = [
    "Load",
    "PageFigures",
    "RequestFigures",
    "ServiceFigures",
    "WebFigures",
    "measure_service",
    "measure_web",
    "temporary_database",
]
