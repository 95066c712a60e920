"""The life of a fit: what every estimator does before, around and after its own training."""
