"""Experiments: the ways of asking that are compared. Configuration, not code."""

from convex_evals.models.experiments.experiment import BUILT_IN, NO_GUIDELINES, Experiment
from convex_evals.models.experiments.loading import DEFAULT, find_experiment, load_experiments

__all__ = ["BUILT_IN", "DEFAULT", "NO_GUIDELINES", "Experiment", "find_experiment", "load_experiments"]
