"""How many members are wrong about a row: as it is, and as it would be if they erred on their own."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.diagnostics import Voters, voters
from coterie.plots.chart import Axis, Chart, Line, Mark
from coterie.plots.display import Display

__all__ = ["VotersDisplay"]


class VotersDisplay(Display):
    """The share of rows by the number of wrong members. Right of the middle the majority is wrong.

    Parameters
    ----------
    found : Voters, what `coterie.diagnostics.voters` found
    """

    def __init__(self, found: Voters) -> None:
        self.found = found

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> "VotersDisplay":
        """Measure a fitted ensemble; parameters are those of `coterie.diagnostics.voters`."""
        return cls(voters(model, X, y, sample_weight=sample_weight))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "wrong", "measured", "independent" and "correlated"; one row for each number of wrong members."""
        found = self.found
        return {
            "wrong": np.arange(found.n + 1),
            "measured": found.wrong,
            "independent": found.independent,
            "correlated": found.correlated,
        }

    def chart(self) -> Chart:
        found, wrong = self.found, np.arange(self.found.n + 1.0)
        lines = (
            Line(f"measured, error {found.majority_error:.3f}", wrong, found.wrong),
            Line(f"independent, {found.independent_error:.3f}", wrong, found.independent),
            Line(f"beta-binomial, {found.correlated_error:.3f}", wrong, found.correlated),
        )
        highest = max(float(line.y.max()) for line in lines)
        return Chart(
            f"{found.n} voters, each wrong in {100 * found.member_error:.0f} of 100 rows",
            Axis("wrong members", 0.0, float(found.n)),
            Axis("share of rows", 0.0, 1.1 * highest),
            lines,
            (Mark(found.n / 2, "half"),),
        )

    def __repr__(self) -> str:
        return f"VotersDisplay({self.found.n} members)"
