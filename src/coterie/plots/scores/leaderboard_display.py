"""A leaderboard or a comparison of models: scores with their intervals, and what members contribute."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie._params import in_short, unexpected
from coterie._typing import AnyArray
from coterie.plots.animation import AnimationFrame
from coterie.plots.chart import Axis, Bars, Chart, Mark, Points, shortened
from coterie.plots.display import Display

_MOST_MODELS = 20


class LeaderboardDisplay(Display):
    """The score of each model with its interval, and beside it what each member contributes to a committee.

    Parameters
    ----------
    rows : list of dict
        What `leaderboard()` of a committee or `coterie.compare` returns, or rows with "name", "score" and perhaps
        "low", "high" and "contribution". The first twenty are shown.
    metric : str or None, what is scored; None is what the leaderboard knows
        Default None: leaderboards of coterie know it.

    Examples
    --------
    >>> rows = [
    ...     {"name": "committee", "score": 0.95, "low": 0.93, "high": 0.97},
    ...     {"name": "forest", "score": 0.94, "low": 0.91, "high": 0.96},
    ... ]
    >>> display = LeaderboardDisplay(rows, metric="accuracy")
    >>> display, display.data["score"]
    (LeaderboardDisplay(accuracy of 2 models), array([0.95, 0.94]))
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], *, metric: str | None = None) -> None:
        given = list(rows)
        if not given or not all(isinstance(row, Mapping) and {"name", "score"} <= set(row) for row in given):
            raise unexpected("rows", in_short(given), 'a leaderboard, whose rows have "name" and "score"')
        self.rows = [dict(row) for row in given]
        known = getattr(rows, "metric", getattr(rows, "scoring", None))
        self.metric = str(metric or known or "score")
        self.greater_is_better = getattr(rows, "greater_is_better", None)

    @classmethod
    def from_estimator(cls, model: Any) -> "LeaderboardDisplay":
        """Show the leaderboard of a fitted committee."""
        if not hasattr(model, "leaderboard"):
            raise unexpected("model", model, "a fitted committee, which has a leaderboard")
        return cls(model.leaderboard())

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "name", "score", "low", "high" and "contribution", which are NaN where they are not known."""
        columns = ("score", "low", "high", "contribution")
        return {"name": np.array([str(row["name"]) for row in self.rows])} | {
            name: np.array([_number(row.get(name)) for row in self.rows]) for name in columns
        }

    def panels(self) -> tuple[Chart, ...]:
        """The scores, and the contributions where there are any."""
        contribution = self.data["contribution"]
        return (self.chart(),) if np.isnan(contribution).all() else (self.chart(), self._contributions())

    def chart(self) -> Chart:
        """The scores."""
        data = {name: column[:_MOST_MODELS][::-1] for name, column in self.data.items()}
        score = data["score"]
        left, right = (np.where(np.isnan(data[end]), score, data[end]) for end in ("low", "high"))
        low, high = float(np.nanmin(left)), float(np.nanmax(right))
        room = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
        arrow = {None: "", True: ", more is better", False: ", less is better"}[self.greater_is_better]
        return Chart(
            "Scores",
            Axis(self.metric + arrow, low - room, high + room),
            self._names(data["name"]),
            points=(Points("", score, np.arange(float(len(score))), left=left, right=right),),
        )

    def frames(self) -> list[AnimationFrame]:
        """One: the two plots are no sequence."""
        return [AnimationFrame("leaderboard", self.panels())]

    def _contributions(self) -> Chart:
        data = {name: column[:_MOST_MODELS][::-1] for name, column in self.data.items()}
        length = np.nan_to_num(data["contribution"])
        reach = 1.1 * float(np.abs(length).max()) or 1.0
        return Chart(
            "Contributions",
            Axis(f"what {self.metric} would lose", min(0.0, -reach if (length < 0).any() else 0.0), reach),
            self._names(data["name"]),
            bars=(Bars("", length),),
            marks=(Mark(0.0),) if (length < 0).any() else (),
        )

    def _names(self, names: AnyArray) -> Axis:
        return Axis("", -0.6, len(names) - 0.4, names=tuple(shortened(str(name)) for name in names))

    def __repr__(self) -> str:
        n_models = len(self.rows)
        return f"LeaderboardDisplay({self.metric} of {n_models} model{'s' if n_models > 1 else ''})"


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)
