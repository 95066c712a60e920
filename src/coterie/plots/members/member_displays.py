"""Members as pictures: diversity of pairs, the kappa-error diagram, how many are wrong about a row, and margins."""

from dataclasses import replace
from typing import Any

import numpy as np

from coterie._params import unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics import Ambiguity, Diversity, Margins, Voters, diversity, voters
from coterie.diagnostics import margins as find_margins
from coterie.plots.animation import AnimationFrame
from coterie.plots.chart import Axis, Chart, Heatmap, Line, Mark, Points
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


_MEASURES = {
    "kappa": "Kappa (agreement beyond chance)",
    "disagreement": "Disagreement (share of rows that one of two classifies correctly)",
    "q_statistic": "Q statistic",
    "correlation": "Correlation of errors",
    "double_fault": "Double fault (share of rows that both misclassify)",
    "distance": "Mean squared difference",
}
_SIGNED = ("kappa", "q_statistic", "correlation")
_MOST_POINTS = 600
_MOST_MEMBERS = 40


class DiversityDisplay(Display):
    """One measure of diversity or similarity, for all pairs of members.

    Parameters
    ----------
    result : Diversity or Ambiguity, the result of `coterie.diagnostics.diversity`
    measure : a matrix of it: "kappa", "disagreement", "q_statistic", "correlation", "double_fault"; for numbers
        "correlation" or "distance". None is kappa, or the correlation of errors. Default None: both are 0 for members
        that agree no more than by chance.

    Examples
    --------
    >>> from coterie import VotingClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.random.default_rng(0).normal(size=(90, 2))
    >>> model = VotingClassifier([("line", LogisticRegression()), ("bayes", GaussianNB())]).fit(X, X[:, 0] > 0)
    >>> DiversityDisplay.from_estimator(model, X, X[:, 0] > 0, measure="disagreement")
    DiversityDisplay(2 members, disagreement)
    """

    def __init__(self, result: Diversity | Ambiguity, measure: str | None = None) -> None:
        known = [name for name in _MEASURES if hasattr(result, name)]
        if measure is None:
            measure = known[0]
        if measure not in known:
            raise unexpected("measure", measure, f"one of {', '.join(known)}")
        self.result, self.measure = result, measure

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, measure: str | None = None, sample_weight: Any = None
    ) -> "DiversityDisplay":
        """Measure a fitted ensemble; parameters are those of `coterie.diagnostics.diversity`."""
        return cls(diversity(model, X, y, sample_weight=sample_weight), measure)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "member", "other" and the measure; one row for each pair of the first forty members."""
        names, matrix = np.array(self.result.names[:_MOST_MEMBERS]), self._matrix()
        return {
            "member": np.repeat(names, len(names)),
            "other": np.tile(names, len(names)),
            self.measure: matrix.ravel(),
        }

    def chart(self) -> Chart:
        names = self.result.names[:_MOST_MEMBERS]
        hidden = f" of {len(self.result.names)}" if len(self.result.names) > len(names) else ""
        values = self._matrix().copy()
        np.fill_diagonal(values, np.nan)
        known = values[np.isfinite(values)]
        high = 1.0 if self.measure in _SIGNED else float(known.max(initial=0.0)) or 1.0
        low = -1.0 if self.measure in _SIGNED and bool((known < 0).any()) else 0.0
        end = len(names) - 0.5
        return Chart(
            f"{_MEASURES[self.measure]} of {len(names)}{hidden} members",
            Axis("", -0.5, end, names=names),
            Axis("", -0.5, end, names=names[::-1]),
            heatmap=Heatmap(self.measure.replace("_", " "), values[::-1], low, high),
        )

    def _matrix(self) -> FloatArray:
        whole = np.asarray(getattr(self.result, self.measure), dtype=np.float64)
        return whole[:_MOST_MEMBERS, :_MOST_MEMBERS]

    def __repr__(self) -> str:
        return f"DiversityDisplay({len(self.result.names)} members, {self.measure.replace('_', ' ')})"


class KappaErrorDisplay(Display):
    """The kappa-error diagram: a point for each pair of members, by agreement and mean error rate.

    Good ensembles have pairs low and to the left: accurate members that differ. There is a trade-off between the two.

    Parameters
    ----------
    result : Diversity, the result of `coterie.diagnostics.diversity`, or a dict of several by name
    """

    def __init__(self, result: Diversity | dict[str, Diversity]) -> None:
        self.result = result if isinstance(result, dict) else {"pairs of members": result}
        wrong = [own for own in self.result.values() if not isinstance(own, Diversity)]
        if wrong:
            raise unexpected("result", wrong[0], "the Diversity of an ensemble of classifiers")

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> "KappaErrorDisplay":
        """Measure a fitted ensemble; parameters are those of `coterie.diagnostics.diversity`."""
        return cls(diversity(model, X, y, sample_weight=sample_weight))  # type: ignore[arg-type]

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "ensemble", "kappa" and "error"; one row for each pair, some of them where there are very many."""
        clouds = [_thinned(*own.cloud()) for own in self.result.values()]
        return {
            "ensemble": np.repeat(list(self.result), [len(kappa) for kappa, _ in clouds]),
            "kappa": np.concatenate([kappa for kappa, _ in clouds]),
            "error": np.concatenate([error for _, error in clouds]),
        }

    def chart(self) -> Chart:
        clouds = [_thinned(*own.cloud()) for own in self.result.values()]
        least = min(
            (float(np.nanmin(kappa)) for kappa, _ in clouds if not np.isnan(kappa).all()), default=0.0
        )
        most = max(float(error.max()) for _, error in clouds)
        return Chart(
            "Kappa-error diagram of pairs of members",
            Axis("kappa (agreement beyond chance)", min(0.0, np.floor(10 * least) / 10), 1.0),
            Axis("mean error rate of the pair", 0.0, min(1.0, 1.15 * most) or 1.0),
            marks=(Mark(0.0),) if least < 0 else (),
            points=tuple(Points(name, *own) for name, own in zip(self.result, clouds, strict=True)),
        )

    def __repr__(self) -> str:
        n_pairs = len(self.data["kappa"])
        return f"KappaErrorDisplay({n_pairs:,} pair{'s' if n_pairs > 1 else ''})"


def _thinned(kappa: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    if len(kappa) <= _MOST_POINTS:
        return kappa, error
    some = np.linspace(0, len(kappa) - 1, _MOST_POINTS).round().astype(np.intp)
    return kappa[some], error[some]


_MOST_STEPS = 600  # of a line; more cannot be seen
_USUAL_ROUNDS = (5, 100, 1000)


class MarginDisplay(Display):
    """How confident an ensemble is of the rows of a table, after some of its rounds.

    A curve that moves to the right is an ensemble that becomes more confident. Rows left of zero are misclassified.

    Parameters
    ----------
    margins : Margins, the result of `coterie.diagnostics.margins`

    Examples
    --------
    >>> from coterie.diagnostics import Margins
    >>> result = Margins(np.array([[-0.5, 0.0, 0.5], [0.2, 0.2, 0.4]]), np.array([1, 10]))
    >>> display = MarginDisplay.from_margins(result)
    >>> display
    MarginDisplay(3 rows, after rounds 1, 10)
    >>> display.data["share"].round(2)
    array([0.33, 0.67, 1.  , 0.67, 1.  ])
    """

    def __init__(self, margins: Margins) -> None:
        self.margins = margins

    @classmethod
    def from_margins(cls, margins: Margins) -> "MarginDisplay":
        """Show margins that are known."""
        return cls(margins)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        rounds: Any = None,
        *,
        votes: str = "hard",
        oob: bool = False,
        sample_weight: Any = None,
    ) -> "MarginDisplay":
        """Find the margins of a fitted ensemble; parameters are those of `coterie.diagnostics.margins`.

        `rounds=None` is after 5, 100 and 1,000 rounds, as far as there are so many, and after the last.
        """
        last = find_margins(model, X, y, votes=votes, oob=oob, sample_weight=sample_weight)
        if rounds is None:
            n_rounds = int(last.rounds[-1])
            rounds = sorted({number for number in _USUAL_ROUNDS if number < n_rounds} | {n_rounds})
        if np.array_equal(rounds, last.rounds):
            return cls(last)
        return cls(find_margins(model, X, y, rounds, votes=votes, oob=oob, sample_weight=sample_weight))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "round", "margin" and "share": the steps of each curve, some of them where there are very many."""
        steps = [self._steps(int(number)) for number in self.margins.rounds]
        return {
            "round": np.repeat(self.margins.rounds, [len(values) for values, _ in steps]),
            "margin": np.concatenate([values for values, _ in steps]),
            "share": np.concatenate([shares for _, shares in steps]),
        }

    def chart(self) -> Chart:
        n_rows = self.margins.margins.shape[1]
        return Chart(
            f"Margin distribution of {n_rows:,} rows",
            Axis("margin", -1.0, 1.0),
            Axis("share of rows with at most this margin", 0.0, 1.0),
            tuple(self._line(int(number)) for number in self.margins.rounds),
            (Mark(0.0),),
        )

    def frames(self) -> list[AnimationFrame]:
        """A curve for each of the rounds, one after the other; those before it stay, thin and grey."""
        chart, found = self.chart(), []
        for place, number in enumerate(self.margins.rounds.tolist()):
            before = tuple(replace(line, faint=True) for line in chart.lines[:place])
            own = replace(chart, lines=(*before, chart.lines[place]))
            found.append(AnimationFrame(f"after {number:,} round{'s' if number > 1 else ''}", (own,)))
        return found

    def _line(self, number: int) -> Line:
        """The steps, from one end of the axis to the other."""
        values, shares = self._steps(number)
        x, y = np.append(values, 1.0), np.append(shares, 1.0)
        if values[0] > -1:
            x, y = np.concatenate([[-1.0, values[0]], x[1:]]), np.concatenate([[0.0], y])
        return Line(f"after {number:,} round{'s' if number > 1 else ''}", x, y, steps=True)

    def _steps(self, number: int) -> tuple[FloatArray, FloatArray]:
        values, shares = self.margins.steps(number)
        if len(values) > _MOST_STEPS:
            some = np.linspace(0, len(values) - 1, _MOST_STEPS).round().astype(np.intp)
            values, shares = values[some], shares[some]
        return values, shares

    def __repr__(self) -> str:
        rounds = ", ".join(str(number) for number in self.margins.rounds)
        return f"MarginDisplay({self.margins.margins.shape[1]:,} rows, after rounds {rounds})"
