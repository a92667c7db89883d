"""A language model as analyst: one question per failure, a typed result, and the rules for what it could not do."""

from convex_evals.analysis.classification.llm.engine import LlmEngine
from convex_evals.analysis.classification.llm.reply import Judgement, MalformedReply, read_judgement

__all__ = ["Judgement", "LlmEngine", "MalformedReply", "read_judgement"]
