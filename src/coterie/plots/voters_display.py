"""The number of members that misclassify a row: as measured, and as expected of independent members."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.diagnostics import Voters, voters
from coterie.plots.chart import Axis, Chart, Line, Mark
from coterie.plots.display import Display


class VotersDisplay(Display):
    """The share of rows by the number of wrong members. Right of the middle, the majority is wrong.

    Parameters
    ----------
    result : Voters, the result of `coterie.diagnostics.voters`
    """

    def __init__(self, result: Voters) -> None:
        self.result = result

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> "VotersDisplay":
        """Measure a fitted ensemble; parameters are those of `coterie.diagnostics.voters`."""
        return cls(voters(model, X, y, sample_weight=sample_weight))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "wrong", "measured", "independent" and "correlated"; one row for each number of wrong members."""
        result = self.result
        return {
            "wrong": np.arange(result.n + 1),
            "measured": result.wrong,
            "independent": result.independent,
            "correlated": result.correlated,
        }

    def chart(self) -> Chart:
        result, wrong = self.result, np.arange(self.result.n + 1.0)
        lines = (
            Line(f"measured, error {result.majority_error:.3f}", wrong, result.wrong),
            Line(f"independent, {result.independent_error:.3f}", wrong, result.independent),
            Line(f"beta-binomial, {result.correlated_error:.3f}", wrong, result.correlated),
        )
        highest = max(float(line.y.max()) for line in lines)
        return Chart(
            f"{result.n} members with an error rate of {100 * result.member_error:.0f} %",
            Axis("number of wrong members", 0.0, float(result.n)),
            Axis("share of rows", 0.0, 1.1 * highest),
            lines,
            (Mark(result.n / 2, "half"),),
        )

    def __repr__(self) -> str:
        return f"VotersDisplay({self.result.n} members)"
