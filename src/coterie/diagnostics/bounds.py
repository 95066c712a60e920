"""What theory promises of AdaBoost, beside what is measured.

The first functions take plain arrays: weighted errors of members, votes, numbers of rows. `adaboost` looks at a
fitted model and puts each quantity beside its bound.

Words
  error    the weighted error of a member on the training rows, with the weights of its round
  edge     how much better than chance a member is: 1/2 minus its error
  vote     the weight of a member in the sum; AdaBoost's is half the logarithm of (1 - error) / error
"""

from coterie.diagnostics._adaboost_bounds import AdaBoostBounds, adaboost
from coterie.diagnostics._bound_formulas import (
    generalization_error,
    margin_error,
    margin_limit,
    normalizers,
    rounds_to_zero_error,
    stump_count,
    training_loss,
    training_loss_by_edge,
)

__all__ = [
    "AdaBoostBounds",
    "adaboost",
    "generalization_error",
    "margin_error",
    "margin_limit",
    "normalizers",
    "rounds_to_zero_error",
    "stump_count",
    "training_loss",
    "training_loss_by_edge",
]
