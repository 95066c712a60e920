"""A loss of the user's own: plain numpy functions of targets and raw predictions."""

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from coterie._params import Real, unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.losses.derivative_check import call, check_derivatives, refuse_not_finite
from coterie.losses.loss import LinkFunction, LossTask, RowFunction
from coterie.losses.tasks import ClassificationLoss, RegressionLoss


@dataclass(frozen=True, repr=False)
class CustomLoss(RegressionLoss):
    """A loss made of functions of (y, score), each of which returns one number per row.

    A score is a raw prediction, before the inverse link.

    Parameters
    ----------
    value : function
        The loss of each row.
    gradient : function
        Its slope with respect to the score.
    hessian : function or None
        Its curvature with respect to the score; None is 1. A row whose hessian is not above zero while its gradient is
        not zero counts the mean size of all hessians instead, with a warning. Default None: plain gradient steps need
        only the gradient.
    baseline : float or None
        The score before the first tree. Default None: the constant that fits best, found by walking down the slope.
    inverse_link : function or None
        From score to prediction. Default None: a regressor predicts the score itself, and a classifier, whose y is 0
        and 1, takes the score as log odds.

    `fit` compares gradient and hessian with differences of the value, and refuses those that do not agree.

    Examples
    --------
    The log of the hyperbolic cosine: a parabola near zero, straight far away.

    >>> log_cosh = CustomLoss(
    ...     value=lambda y, score: np.logaddexp(score - y, y - score),
    ...     gradient=lambda y, score: np.tanh(score - y),
    ...     hessian=lambda y, score: 1 - np.tanh(score - y) ** 2,
    ... )
    >>> log_cosh.bind(np.array([1.0, 2.0, 3.0]), None, n_threads=1).baseline.round(6)
    array([2.])
    """

    value: RowFunction
    gradient: RowFunction
    hessian: RowFunction | None = None
    baseline: float | None = None
    inverse_link: LinkFunction | None = None
    name: ClassVar[str] = "custom"
    tasks: ClassVar[frozenset[LossTask]] = frozenset({"regression", "binary"})

    def __post_init__(self) -> None:
        for part in ("value", "gradient", "hessian", "inverse_link"):
            given = getattr(self, part)
            if not callable(given) and (given is not None or part in ("value", "gradient")):
                of = "(score)" if part == "inverse_link" else "(y, score)"
                raise unexpected(part, given, f"a function of {of}", owner="CustomLoss")
        if self.baseline is not None and not Real().accepts(self.baseline):
            raise unexpected("baseline", self.baseline, Real().describe(), owner="CustomLoss")

    @property
    def title(self) -> str:
        return "CustomLoss"

    def __repr__(self) -> str:
        given = [(each.name, getattr(self, each.name)) for each in fields(self)]
        shown = [f"{part}={_name_of(value)}" for part, value in given if value is not None]
        return f"CustomLoss({', '.join(shown)})"

    def for_classes(self, n_classes: int) -> ClassificationLoss:
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return CustomClassLoss(**own).for_classes(n_classes)

    def check_formulas(self, y: FloatArray, raw: FloatArray) -> None:
        check_derivatives(self, y, raw)

    def values(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return call(self, "value", y.astype(np.float64), raw[:, 0])

    def gradients(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return call(self, "gradient", y.astype(np.float64), raw[:, 0])[:, None]

    def curvatures(self, y: AnyArray, raw: FloatArray, direction: FloatArray) -> FloatArray | None:
        if self.hessian is None:
            return None
        return np.asarray(call(self, "hessian", y.astype(np.float64), raw[:, 0]) * direction[:, 0] ** 2)

    def apply_inverse_link(self, raw: FloatArray) -> FloatArray:
        predictions = call(self, "inverse_link", None, raw)
        known = ~np.isnan(raw)  # rows without a weight have no score from a booster that left them out
        refuse_not_finite(self, "inverse_link", predictions[known], None, raw[known])
        return np.where(known, predictions, np.nan)


class CustomClassLoss(ClassificationLoss, CustomLoss):  # type: ignore[misc]  # the link of classes
    """A custom loss of two classes."""


def _name_of(value: object) -> str:
    # Functions of numpy have no qualified name before its version 2.
    return getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or repr(value)
