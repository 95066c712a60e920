"""Many heads are better than one if they err on their own: the error of a majority, in theory and in a model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from coterie._params import Integer, unexpected
from coterie._typing import FloatArray
from coterie.data.weight import read_weight
from coterie.diagnostics.checks import check_choice
from coterie.diagnostics.votes import codes_of, is_list_of_models, member_predictions_of
from coterie.errors import InvalidInput


def independent_voters(n: int, error: ArrayLike, correlation: ArrayLike = 0.0) -> Any:
    """How often the majority of voters is wrong, if each of them is wrong with probability `error`.

    Parameters
    ----------
    n : int, the number of voters; a tie counts as half an error
    error : number in [0, 1], or array of them
    correlation : number in [0, 1], or array of them
        Of two voters being wrong. 0 are independent voters. With more, rows differ in how hard they are: the chance of
        an error follows a beta distribution, and the number of wrong voters a beta-binomial one. 1 are voters that
        always agree. Default 0.0: the textbook case.

    Returns
    -------
    float, or an array of them

    Examples
    --------
    Twenty-five voters that are wrong in 35 of 100 cases are wrong in 6 together; not if their errors are correlated.

    >>> round(independent_voters(25, 0.35), 2)
    0.06
    >>> independent_voters(25, 0.35, correlation=[0, 0.1, 0.5, 1]).round(2)
    array([0.06, 0.2 , 0.33, 0.35])
    """
    check_choice("n", n, Integer(1))
    shares = []
    for name, value in (("error", error), ("correlation", correlation)):
        array = np.asarray(value, dtype=np.float64)
        if not ((array >= 0) & (array <= 1)).all():
            raise unexpected(name, value, "a number in [0, 1], or an array of them")
        shares.append(array)
    chance, alike = np.broadcast_arrays(*shares)
    found = np.array(
        [_majority(n, *pair) for pair in zip(chance.ravel().tolist(), alike.ravel().tolist(), strict=True)]
    )
    return float(found[0]) if chance.ndim == 0 else found.reshape(chance.shape)


def _majority(n: int, error: float, correlation: float) -> float:
    shares = _distribution(n, error, correlation)
    wrong = np.arange(n + 1)
    return float(shares[2 * wrong > n].sum() + shares[2 * wrong == n].sum() / 2)


def _distribution(n: int, error: float, correlation: float) -> FloatArray:
    """The chance that 0, 1, ..., n voters are wrong."""
    wrong = np.arange(n + 1)
    if error in (0.0, 1.0) or correlation == 1:
        return np.where(wrong == 0, 1 - error, 0.0) + np.where(wrong == n, error, 0.0)
    if correlation == 0:
        return np.asarray(stats.binom.pmf(wrong, n, error))
    both = (1 - correlation) / correlation
    return np.asarray(stats.betabinom.pmf(wrong, n, error * both, (1 - error) * both))


@dataclass(frozen=True, repr=False, eq=False)
class Voters:
    """The members of an ensemble beside voters of theory that are wrong as often.

    Attributes
    ----------
    n : int, the number of members
    member_error : share of wrong predictions, over members and rows
    correlation : of two members being wrong, as a beta-binomial distribution has it; not below 0
    independent_error : of a majority of independent voters with this error
    correlated_error : of a majority of voters with this error and correlation
    majority_error : share of rows that more than half of the members get wrong; half of a row for a tie
    ensemble_error : share of rows that the model gets wrong; less than `majority_error` where wrong votes are split
        among several classes; NaN for a list of models
    wrong, independent, correlated : arrays of shape (n + 1,)
        The share of rows that 0, 1, ..., n members get wrong: as it is, and by both theories.
    """

    n: int
    member_error: float
    correlation: float
    independent_error: float
    correlated_error: float
    majority_error: float
    ensemble_error: float
    wrong: FloatArray
    independent: FloatArray
    correlated: FloatArray

    def __repr__(self) -> str:
        return "\n".join(
            [
                f"{self.n} voters, each wrong in a share of {self.member_error:.4f}",
                f"  majority, measured    {self.majority_error:.4f}",
                f"  independent voters    {self.independent_error:.4f}",
                f"  with a correlation of {self.correlation:.2f}: {self.correlated_error:.4f}",
            ]
        )


def voters(model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Voters:
    """Compare the members of a fitted ensemble of classes with voters that err on their own.

    Every member has one vote here, whatever its weight in the model.

    Parameters
    ----------
    model, X, y, sample_weight : as in `diversity`
        Default: that of `diversity`, for the reason that is given there.

    Examples
    --------
    >>> from coterie import RandomForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> y = X[:, 0] + X[:, 1] + rng.normal(size=600) > 0
    >>> found = voters(RandomForestClassifier(25, random_state=0).fit(X[:300], y[:300]), X[300:], y[300:])
    >>> found.independent_error < found.majority_error < found.member_error
    True
    """
    members = member_predictions_of(model, X)
    if not members.classes:
        raise InvalidInput(
            "Voters name classes, and these members predict numbers.",
            parameter="model",
            allowed="an ensemble of classifiers",
            hint="`diversity` takes them.",
        )
    n_members, n_rows = members.values.shape[:2]
    [classes] = members.classes
    codes = codes_of(y, classes, n_rows)
    given = read_weight(sample_weight, n_rows)
    share = np.full(n_rows, 1 / n_rows) if given is None else given / given.sum()
    n_wrong = (members.codes != codes).sum(axis=0)
    error = float(n_wrong @ share) / n_members
    both = float((n_wrong * (n_wrong - 1)) @ share) / (n_members * (n_members - 1))
    spread = error * (1 - error)
    correlation = min(1.0, max(0.0, (both - error**2) / spread)) if spread > 0 else 0.0
    halves = np.where(2 * n_wrong == n_members, 0.5, (2 * n_wrong > n_members).astype(np.float64))
    ensemble_error = np.nan
    if not is_list_of_models(model):
        ensemble_error = float((np.asarray(model.predict(X)) != classes[codes]) @ share)
    return Voters(
        n=n_members,
        member_error=error,
        correlation=correlation,
        independent_error=float(independent_voters(n_members, error)),
        correlated_error=float(independent_voters(n_members, error, correlation)),
        majority_error=float(halves @ share),
        ensemble_error=ensemble_error,
        wrong=np.bincount(n_wrong, share, minlength=n_members + 1).astype(np.float64),
        independent=_distribution(n_members, error, 0.0),
        correlated=_distribution(n_members, error, correlation),
    )
