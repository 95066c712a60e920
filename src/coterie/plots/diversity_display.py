"""How alike members are: a matrix of all pairs, and the cloud of their agreement and error."""

from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics import Ambiguity, Diversity, diversity
from coterie.errors import InvalidParameter
from coterie.plots.chart import Axis, Cells, Chart, Mark, Points
from coterie.plots.display import Display

__all__ = ["DiversityDisplay", "KappaErrorDisplay"]

_MEASURES = {
    "kappa": "kappa: agreement beyond chance",
    "disagreement": "share of rows that one of two gets right",
    "q_statistic": "Q statistic",
    "correlation": "correlation of errors",
    "double_fault": "share of rows that both get wrong",
    "distance": "mean squared distance",
}
_SIGNED = ("kappa", "q_statistic", "correlation")
_MOST_POINTS = 600
_MOST_MEMBERS = 40


class DiversityDisplay(Display):
    """One measure of how alike members are, for all pairs of them.

    Parameters
    ----------
    found : Diversity or Ambiguity, what `coterie.diagnostics.diversity` found
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

    def __init__(self, found: Diversity | Ambiguity, measure: str | None = None) -> None:
        known = [name for name in _MEASURES if hasattr(found, name)]
        if measure is None:
            measure = known[0]
        if measure not in known:
            raise InvalidParameter(f"measure={in_short(measure)}: expected one of {', '.join(known)}.")
        self.found, self.measure = found, measure

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, measure: str | None = None, sample_weight: Any = None
    ) -> "DiversityDisplay":
        """Measure a fitted ensemble; parameters are those of `coterie.diagnostics.diversity`."""
        return cls(diversity(model, X, y, sample_weight=sample_weight), measure)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "member", "other" and the measure; one row for each pair of the first forty members."""
        names, matrix = np.array(self.found.names[:_MOST_MEMBERS]), self._matrix()
        return {
            "member": np.repeat(names, len(names)),
            "other": np.tile(names, len(names)),
            self.measure: matrix.ravel(),
        }

    def chart(self) -> Chart:
        names = self.found.names[:_MOST_MEMBERS]
        hidden = f" of {len(self.found.names)}" if len(self.found.names) > len(names) else ""
        values = self._matrix().copy()
        np.fill_diagonal(values, np.nan)
        known = values[np.isfinite(values)]
        high = 1.0 if self.measure in _SIGNED else float(known.max(initial=0.0)) or 1.0
        low = -1.0 if self.measure in _SIGNED and bool((known < 0).any()) else 0.0
        end = len(names) - 0.5
        return Chart(
            f"{len(names)}{hidden} members: {_MEASURES[self.measure]}",
            Axis("", -0.5, end, names=names),
            Axis("", -0.5, end, names=names[::-1]),
            cells=Cells(self.measure.replace("_", " "), values[::-1], low, high),
        )

    def _matrix(self) -> FloatArray:
        whole = np.asarray(getattr(self.found, self.measure), dtype=np.float64)
        return whole[:_MOST_MEMBERS, :_MOST_MEMBERS]

    def __repr__(self) -> str:
        return f"DiversityDisplay({len(self.found.names)} members, {self.measure.replace('_', ' ')})"


class KappaErrorDisplay(Display):
    """A dot for each pair of members: how much they agree, and how often they are wrong.

    Good ensembles have pairs low and to the left: accurate members that differ. These two pull against each other.

    Parameters
    ----------
    found : Diversity, what `coterie.diagnostics.diversity` found, or a dict of several by name
    """

    def __init__(self, found: Diversity | dict[str, Diversity]) -> None:
        self.found = found if isinstance(found, dict) else {"pairs of members": found}
        wrong = [own for own in self.found.values() if not isinstance(own, Diversity)]
        if wrong:
            raise InvalidParameter(
                f"found={in_short(wrong[0])}: expected the Diversity of an ensemble of classes."
            )

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> "KappaErrorDisplay":
        """Measure a fitted ensemble; parameters are those of `coterie.diagnostics.diversity`."""
        return cls(diversity(model, X, y, sample_weight=sample_weight))  # type: ignore[arg-type]

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "ensemble", "kappa" and "error"; one row for each pair, thinned out where there are very many."""
        clouds = [_thinned(*own.cloud()) for own in self.found.values()]
        return {
            "ensemble": np.repeat(list(self.found), [len(kappa) for kappa, _ in clouds]),
            "kappa": np.concatenate([kappa for kappa, _ in clouds]),
            "error": np.concatenate([error for _, error in clouds]),
        }

    def chart(self) -> Chart:
        clouds = [_thinned(*own.cloud()) for own in self.found.values()]
        least = min(
            (float(np.nanmin(kappa)) for kappa, _ in clouds if not np.isnan(kappa).all()), default=0.0
        )
        most = max(float(error.max()) for _, error in clouds)
        return Chart(
            "Kappa and error of pairs of members",
            Axis("kappa: agreement beyond chance", min(0.0, np.floor(10 * least) / 10), 1.0),
            Axis("mean error of the two", 0.0, min(1.0, 1.15 * most) or 1.0),
            marks=(Mark(0.0),) if least < 0 else (),
            points=tuple(Points(name, *own) for name, own in zip(self.found, clouds, strict=True)),
        )

    def __repr__(self) -> str:
        n_pairs = len(self.data["kappa"])
        return f"KappaErrorDisplay({n_pairs:,} pair{'s' if n_pairs > 1 else ''})"


def _thinned(kappa: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    if len(kappa) <= _MOST_POINTS:
        return kappa, error
    some = np.linspace(0, len(kappa) - 1, _MOST_POINTS).round().astype(np.intp)
    return kappa[some], error[some]
