"""Does 70 % mean seven of ten? Reliability of probabilities, by bins."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from coterie._params import Integer, OneOf, Real, in_short, unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.data.weight import read_weight
from coterie.diagnostics.checks import check_choice, several_targets
from coterie.diagnostics.votes import codes_of
from coterie.errors import InvalidInput, InvalidType


@dataclass(frozen=True, repr=False, eq=False)
class Reliability:
    """Probabilities of one event beside how often it happened. Arrays have an entry for each bin that holds rows.

    Attributes
    ----------
    label : the class that is meant, or "top" for the most probable class of each row
    predicted : mean probability in the bin
    observed : share of its rows in which the event happened
    low, high : Wilson's interval of that share
    count : rows in the bin, by weight
    least, most : the smallest and largest probability in the bin
    expected_error : mean distance of `predicted` and `observed`, by count (the expected calibration error)
    maximum_error : the largest distance
    brier : mean squared distance of probabilities from what happened
    reliability, resolution, uncertainty, within : parts of it
        `brier = reliability - resolution + uncertainty + within`. The first is 0 for perfect probabilities; the second
        is how much the bins differ; the third is that of the base rate; the last is what differs inside of bins,
        and is 0 if each bin holds one probability.
    """

    label: Any
    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    count: FloatArray
    least: FloatArray
    most: FloatArray
    expected_error: float
    maximum_error: float
    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float

    def __repr__(self) -> str:
        lines = [
            f"reliability of {in_short(self.label)}: expected calibration error {self.expected_error:.4f}, largest "
            f"{self.maximum_error:.4f}",
            f"Brier {self.brier:.4f} = {self.reliability:.4f} reliability - {self.resolution:.4f} resolution + "
            f"{self.uncertainty:.4f} uncertainty {self.within:+.4f} within bins",
        ]
        return "\n".join(lines)


@dataclass(frozen=True, repr=False, eq=False)
class Calibration:
    """Reliability of a model's probabilities.

    Attributes
    ----------
    curves : tuple of Reliability
        Two classes: that of the second. More: that of the most probable class of each row ("top"), then of each class.
    brier : mean squared distance of all probabilities from what happened, added up over classes; of two classes, of the
        second alone, as is usual
    """

    curves: tuple[Reliability, ...]
    brier: float

    @property
    def main(self) -> Reliability:
        """The first curve: of the second of two classes, or of the most probable one."""
        return self.curves[0]

    def of(self, label: Any) -> Reliability:
        """The curve of a class, or of "top"."""
        for curve in self.curves:
            if curve.label == label:
                return curve
        known = [curve.label for curve in self.curves]
        raise unexpected("label", label, f"one of {in_short(known)}")

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.curves))


def calibration(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_bins: int | None = 10,
    strategy: str = "uniform",
    confidence: float = 0.95,
    sample_weight: Any = None,
) -> Calibration:
    """Compare the probabilities of a fitted classifier with what happened.

    Parameters
    ----------
    model : a fitted classifier with predict_proba
    X, y : rows that the model has not seen, and their labels
    n_bins : int or None
        Rows of similar probability are put together, in so many bins. None is a bin for each distinct probability.
        Default 10: the usual number, so that calibration errors can be compared with published ones.
    strategy : {"uniform", "quantile"}
        Bins of the same width, or with as many rows each. Default "uniform": each bin covers as much of the axis; take
        "quantile" where most probabilities are near 0.
    confidence : float, that of the intervals
        Default 0.95: the usual level.
    sample_weight : array of shape (n_rows,), how often each row counts
        Default None: every row counts once.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(rng.normal(size=(1000, 1)), 5, axis=1)  # five times the same column
    >>> y = X[:, 0] + rng.normal(size=1000) > 0
    >>> naive = GaussianNB().fit(X[:500], y[:500])
    >>> single = GaussianNB().fit(X[:500, :1], y[:500])
    >>> for model, table in ((naive, X), (single, X[:, :1])):
    ...     print(round(calibration(model, table[500:], y[500:], n_bins=5).main.expected_error, 2))
    0.19
    0.03

    References
    ----------
    Murphy (1973); Stephenson, Coelho and Jolliffe (2008), for what is left within bins.
    """
    check_choice("n_bins", n_bins, Integer(1), None)
    check_choice("strategy", strategy, OneOf("uniform", "quantile"))
    check_choice("confidence", confidence, Real(0, 1, closed="neither"))
    shares, classes = _probabilities(model, X)
    codes = codes_of(y, classes, len(shares))
    given = read_weight(sample_weight, len(shares))
    weight = np.ones(len(shares)) if given is None else given

    def curve(label: Any, values: FloatArray, happened: AnyArray) -> Reliability:
        bins = _bins(values, weight, n_bins, strategy)
        return _reliability(label, values, happened.astype(np.float64), weight, bins, confidence)

    if len(classes) == 2:
        only = curve(classes.tolist()[1], shares[:, 1], codes == 1)
        return Calibration((only,), only.brier)
    top = shares.argmax(axis=1)
    curves = [curve("top", shares.max(axis=1), top == codes)]
    for code, label in enumerate(classes.tolist()):
        curves.append(curve(label, shares[:, code], codes == code))
    return Calibration(tuple(curves), float(sum(own.brier for own in curves[1:])))


def wilson_interval(share: FloatArray, count: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Where the chance of an event may lie that happened in a share of the cases.

    Examples
    --------
    >>> low, high = wilson_interval(np.array([0.5, 0.0]), np.array([10.0, 10.0]), 0.95)
    >>> low.round(3), high.round(3)
    (array([0.237, 0.   ]), array([0.763, 0.278]))
    """
    z = float(stats.norm.ppf((1 + confidence) / 2))
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    reach = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return np.clip(middle - reach, 0.0, share), np.clip(middle + reach, share, 1.0)


def _probabilities(model: Any, X: Any) -> tuple[FloatArray, AnyArray]:
    if not hasattr(model, "predict_proba"):
        raise InvalidType.expecting(
            f"{in_short(model)} has no predict_proba",
            "a fitted classifier with predict_proba",
            "model",
            model,
        )
    check_is_fitted(model)
    shares, classes = model.predict_proba(X), model.classes_
    if isinstance(shares, list):
        raise several_targets("Calibration is for", model, len(shares))
    if len(classes) < 2:
        raise InvalidInput.expecting(
            f"The model knows only {classes[0]!r}", "two classes at least", "model", len(classes)
        )
    return np.asarray(shares, dtype=np.float64), np.asarray(classes)


def _bins(values: FloatArray, weight: FloatArray, n_bins: int | None, strategy: str) -> AnyArray:
    """The bin of each row."""
    if n_bins is None:
        return np.unique(values, return_inverse=True)[1]
    if strategy == "uniform":
        return np.minimum((np.clip(values, 0.0, 1.0) * n_bins).astype(np.intp), n_bins - 1)
    _, place = np.unique(values, return_inverse=True)
    held = np.bincount(place, weight)
    middle = (np.cumsum(held) - held / 2) / held.sum()  # rows of one probability stay together
    own = np.minimum((middle * n_bins).astype(np.intp), n_bins - 1)
    return np.asarray(own[place])


def _reliability(
    label: Any,
    values: FloatArray,
    happened: FloatArray,
    weight: FloatArray,
    bins: AnyArray,
    confidence: float,
) -> Reliability:
    counted = weight > 0
    values, happened, weight, bins = values[counted], happened[counted], weight[counted], bins[counted]
    _, bins = np.unique(bins, return_inverse=True)
    count = np.bincount(bins, weight).astype(np.float64)
    predicted, observed = (
        np.bincount(bins, weight * values) / count,
        np.bincount(bins, weight * happened) / count,
    )
    observed = np.minimum(observed, 1.0)
    low, high = wilson_interval(observed, count, confidence)
    least, most = np.full(len(count), np.inf), np.full(len(count), -np.inf)
    np.minimum.at(least, bins, values)
    np.maximum.at(most, bins, values)
    share = count / count.sum()
    base = float(share @ observed)
    inside = values - predicted[bins]
    left = inside**2 - 2 * inside * (happened - observed[bins])
    gap = np.abs(predicted - observed)
    return Reliability(
        label=label,
        predicted=predicted,
        observed=observed,
        low=low,
        high=high,
        count=count,
        least=least,
        most=most,
        expected_error=float(share @ gap),
        maximum_error=float(gap.max()),
        brier=float(np.average((values - happened) ** 2, weights=weight)),
        reliability=float(share @ gap**2),
        resolution=float(share @ (observed - base) ** 2),
        uncertainty=base * (1 - base),
        within=float(np.average(left, weights=weight)),
    )
