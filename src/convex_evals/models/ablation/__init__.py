"""Ablation: what is a section of the guidelines worth? Ask with all of them, and without each."""

from convex_evals.models.ablation.change import METHOD, Change, paired_change
from convex_evals.models.ablation.variants import Variant, VariantKind, plan_variants

__all__ = ["METHOD", "Change", "Variant", "VariantKind", "paired_change", "plan_variants"]
