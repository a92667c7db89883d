"""Ablation: what is a section of the guidelines worth? Ask with all of them, and without each."""

from convex_evals.models.ablation.variants import Variant, VariantKind, plan_variants

__all__ = ["Variant", "VariantKind", "plan_variants"]
