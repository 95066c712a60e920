"""Members as pictures: diversity of all pairs, the kappa-error diagram, and how many are wrong about a row."""

from typing import Any

import numpy as np

from coterie._params import unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics import Ambiguity, Diversity, Voters, diversity, voters
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
        "correlation" or "distance". None is kappa, or the correlation of errors.

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
