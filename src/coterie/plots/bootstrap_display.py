"""Bootstrap estimates of the error on new rows, with their intervals."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.diagnostics import BootstrapError, bootstrap
from coterie.plots.chart import Axis, Bars, Chart, Mark
from coterie.plots.display import Display

_ESTIMATES = {
    "apparent": "apparent",
    "error_632": ".632",
    "error_632_plus": ".632+",
    "leave_one_out": "leave-one-out",
}
_LOSS_NAMES = {"zero_one": "error rate"}


class BootstrapDisplay(Display):
    """Estimates of the error on new rows, each with its 95 % confidence interval.

    Parameters
    ----------
    result : BootstrapError, the result of `coterie.diagnostics.bootstrap`

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> BootstrapDisplay.from_estimator(LinearRegression(), X, X[:, 0] ** 2, n_repeats=10, random_state=0)
    BootstrapDisplay(squared error, 10 fits)
    """

    def __init__(self, result: BootstrapError) -> None:
        self.result = result

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> "BootstrapDisplay":
        """Fit to bootstrap samples; `options` are those of `coterie.diagnostics.bootstrap`."""
        return cls(bootstrap(estimator, X, y, **options))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "estimate", "error" and "standard_error", which is NaN where it is not known."""
        return {
            "estimate": np.array(list(_ESTIMATES)),
            "error": np.array([getattr(self.result, name) for name in _ESTIMATES]),
            "standard_error": np.array(
                [self.result.standard_errors.get(name, np.nan) for name in _ESTIMATES]
            ),
        }

    def chart(self) -> Chart:
        errors = self.data["error"][::-1]
        spread = np.nan_to_num(1.96 * self.data["standard_error"][::-1])
        no_information = self.result.no_information
        high = 1.1 * float(np.max(errors + spread)) or 1.0
        near = 0 < no_information < 2 * high
        return Chart(
            f"Error on new rows, {len(self.result.fit_errors)} bootstrap samples",
            Axis(
                _LOSS_NAMES.get(self.result.loss, self.result.loss.replace("_", " ")),
                0.0,
                max(high, 1.05 * no_information if near else 0.0),
            ),
            Axis("", -0.6, len(errors) - 0.4, names=tuple(_ESTIMATES.values())[::-1]),
            bars=(Bars("", errors, spread),),
            marks=(Mark(no_information, "no information"),) if near else (),
        )

    def __repr__(self) -> str:
        return f"BootstrapDisplay({self.result.loss.replace('_', ' ')}, {len(self.result.fit_errors)} fits)"
