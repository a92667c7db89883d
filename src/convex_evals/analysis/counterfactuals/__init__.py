"""What would have happened otherwise?"""

from convex_evals.analysis.counterfactuals.gathering import gather_counterfactuals
from convex_evals.analysis.counterfactuals.neighbours import Neighbour, read_neighbours

__all__ = ["Neighbour", "gather_counterfactuals", "read_neighbours"]
