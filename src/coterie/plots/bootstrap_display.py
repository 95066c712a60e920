"""Errors by the bootstrap: every estimate with its interval, between what is too small and what is too large."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.diagnostics import BootstrapError, bootstrap
from coterie.plots.chart import Axis, Bars, Chart, Mark
from coterie.plots.display import Display

__all__ = ["BootstrapDisplay"]

_ESTIMATES = {
    "apparent": "apparent",
    "error_632": ".632",
    "error_632_plus": ".632+",
    "leave_one_out": "leave-one-out",
}
_IN_WORDS = {"zero_one": "share of wrong rows"}


class BootstrapDisplay(Display):
    """Estimates of the error on new rows, each with 95 % of a normal distribution.

    Parameters
    ----------
    found : BootstrapError, what `coterie.diagnostics.bootstrap` found

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> BootstrapDisplay.from_estimator(LinearRegression(), X, X[:, 0] ** 2, n_repeats=10, random_state=0)
    BootstrapDisplay(squared error, 10 fits)
    """

    def __init__(self, found: BootstrapError) -> None:
        self.found = found

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> "BootstrapDisplay":
        """Fit to bootstraps; `options` are those of `coterie.diagnostics.bootstrap`."""
        return cls(bootstrap(estimator, X, y, **options))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "estimate", "error" and "standard_error", which is NaN where it is not known."""
        return {
            "estimate": np.array(list(_ESTIMATES)),
            "error": np.array([getattr(self.found, name) for name in _ESTIMATES]),
            "standard_error": np.array([self.found.standard_errors.get(name, np.nan) for name in _ESTIMATES]),
        }

    def chart(self) -> Chart:
        errors = self.data["error"][::-1]
        spread = np.nan_to_num(1.96 * self.data["standard_error"][::-1])
        nothing = self.found.no_information
        high = 1.1 * float(np.max(errors + spread)) or 1.0
        near = 0 < nothing < 2 * high
        return Chart(
            f"Error on new rows, {len(self.found.fit_errors)} bootstraps",
            Axis(
                _IN_WORDS.get(self.found.loss, self.found.loss.replace("_", " ")),
                0.0,
                max(high, 1.05 * nothing if near else 0.0),
            ),
            Axis("", -0.6, len(errors) - 0.4, names=tuple(_ESTIMATES.values())[::-1]),
            bars=(Bars("", errors, spread),),
            marks=(Mark(nothing, "no information"),) if near else (),
        )

    def __repr__(self) -> str:
        return f"BootstrapDisplay({self.found.loss.replace('_', ' ')}, {len(self.found.fit_errors)} fits)"
