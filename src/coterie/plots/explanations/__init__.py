"""Pictures of what columns contribute: importance, dependence, and contributions to predictions."""
