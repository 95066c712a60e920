"""Columns made of columns: what they are, which of them help, and members that learn from them."""

from coterie.committee.features.generated_features import GeneratedFeatures

__all__ = ["GeneratedFeatures"]
