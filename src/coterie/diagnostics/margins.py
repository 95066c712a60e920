"""Margins: not whether an ensemble is right about a row, but by how many votes; and how often it is wrong by round."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coterie._params import Real, in_short, unexpected
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.weight import read_weight
from coterie.diagnostics.votes import chosen_rounds, codes_of, staged_margins, votes_of
from coterie.errors import InvalidInput


@dataclass(frozen=True, repr=False, eq=False)
class Margins:
    """The margins of the rows of a table after some of the rounds of an ensemble.

    A row that no tree left out has no margin out of bag. It is NaN in `margins`, and takes no part in anything else.

    Parameters
    ----------
    margins : array of shape (n_rounds, n_rows), numbers in [-1, 1]
    rounds : whole numbers of shape (n_rounds,), ascending: after how many rounds
    weight : array of shape (n_rows,), how often each row counts; None if all count alike
        Default None: every row counts once.

    Examples
    --------
    >>> found = Margins(np.array([[-0.2, 0.0, 0.4, 1.0], [0.2, 0.2, 0.5, 0.8]]), np.array([5, 100]))
    >>> found
    Margins of 4 rows
      round  minimum  tenth  median   mean  share <= 0
          5    -0.20  -0.20    0.00   0.30     50.00 %
        100     0.20   0.20    0.20   0.43      0.00 %
    >>> found.error(0.2)
    array([0.5, 0.5])
    """

    margins: FloatArray
    rounds: RowArray
    weight: FloatArray | None = None

    @property
    def minimum(self) -> FloatArray:
        """The smallest margin of a row that counts, after each of the rounds."""
        return self.quantile(0.0)

    @property
    def mean(self) -> FloatArray:
        """The mean margin, after each of the rounds."""
        return np.array([np.average(values, weights=share) for values, share in map(self._known, self._all)])

    def error(self, rho: float = 0.0) -> FloatArray:
        """The margin error R_n(h; rho): the share of rows whose margin is at most `rho`, after each of the rounds.

        With `rho=0` it is the training error, if X and y are the training rows and a tie counts as an error.
        """
        return self.distribution(rho)

    def distribution(self, theta: ArrayLike) -> FloatArray:
        """The share of rows whose margin is at most theta.

        Parameters
        ----------
        theta : a number, or an array of them

        Returns
        -------
        array of shape (n_rounds,), or (n_rounds, n_theta) for an array
        """
        wanted = np.asarray(theta, dtype=np.float64)
        if wanted.ndim > 1 or np.isnan(wanted).any():
            raise unexpected("theta", theta, "a number or a list of numbers")
        found = []
        for each in self._all:
            values, shares = self.steps(int(self.rounds[each]))
            found.append(np.append(0.0, shares)[np.searchsorted(values, wanted, side="right")])
        return np.array(found)

    def steps(self, number: int | None = None) -> tuple[FloatArray, FloatArray]:
        """The whole distribution as a step function after one of the rounds, by default the last.

        Returns
        -------
        The distinct margins, ascending, and the share of rows with at most that margin; the last of these is 1.

        Examples
        --------
        >>> Margins(np.array([[0.5, 1.0, 0.5, -1.0]]), np.array([7])).steps()
        (array([-1. ,  0.5,  1. ]), array([0.25, 0.75, 1.  ]))
        """
        values, share = self._known(self._place(number))
        distinct, place = np.unique(values, return_inverse=True)
        shares = np.cumsum(np.bincount(place, share))
        return distinct, shares / shares[-1]

    def quantile(self, q: ArrayLike) -> FloatArray:
        """The smallest margin that a share `q` of the rows does not exceed, after each of the rounds.

        Parameters
        ----------
        q : a number from 0 to 1, or an array of them

        Returns
        -------
        array of shape (n_rounds,), or (n_rounds, n_q) for an array
        """
        wanted = np.asarray(q, dtype=np.float64)
        if wanted.ndim > 1 or not ((wanted >= 0) & (wanted <= 1)).all():
            raise unexpected("q", q, f"{Real(0, 1).describe()}, or a list of them")
        found = []
        for each in self._all:
            values, shares = self.steps(int(self.rounds[each]))
            reached = np.searchsorted(shares, wanted - 1e-12, side="left")
            found.append(values[np.minimum(reached, len(values) - 1)])
        return np.array(found)

    def __repr__(self) -> str:
        lines = [
            f"Margins of {self.margins.shape[1]:,} rows",
            f"{'round':>7}  minimum  tenth  median   mean  share <= 0",
        ]
        low, tenth, median = self.quantile([0.0, 0.1, 0.5]).T
        table = zip(self.rounds, low, tenth, median, self.mean, 100 * self.error(), strict=True)
        rows = [
            f"{row[0]:>7}  {row[1]:>7.2f}  {row[2]:>5.2f}  {row[3]:>6.2f}  {row[4]:>5.2f}  {row[5]:>8.2f} %"
            for row in table
        ]
        dots = ["      …"] if len(rows) > 12 else []
        return "\n".join([*lines, *(rows if not dots else [*rows[:5], *dots, *rows[-5:]])])

    @property
    def _all(self) -> range:
        return range(len(self.rounds))

    def _place(self, number: int | None) -> int:
        if number is None:
            return len(self.rounds) - 1
        places = np.flatnonzero(self.rounds == number)
        if len(places) == 0:
            raise unexpected("number", number, f"one of the rounds {in_short(self.rounds.tolist())}")
        return int(places[0])

    def _known(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Margins and weights of the rows that have both."""
        values = self.margins[place]
        share = np.ones(len(values)) if self.weight is None else self.weight
        known = ~np.isnan(values) & (share > 0)
        if not known.any():
            raise InvalidInput(
                f"After round {self.rounds[place]} no row has a margin out of bag: every row was drawn by all members "
                "so far.",
                parameter="rounds",
                received=int(self.rounds[place]),
                hint="Choose a later round.",
            )
        return values[known], share[known]


def margins(
    model: Any,
    X: Any,
    y: Any,
    rounds: Any = None,
    *,
    votes: str = "hard",
    oob: bool = False,
    sample_weight: Any = None,
) -> Margins:
    """By how many votes an ensemble is right about each row.

    The voting margin of a row is the share of the votes for its class minus the largest share of another class. It is 1
    if all members are right, -1 if all of them agree on the same wrong class, and it is positive where the ensemble
    is right. With two classes, labels y = -1 and 1, members h and votes alpha, it is y f(x) with
    f(x) = sum of alpha h(x) / sum of abs(alpha).

    Parameters
    ----------
    model : a fitted ensemble
        What its votes are:

        - forests, and bagging of scikit-learn: one for each member
        - scikit-learn's VotingClassifier: the weight of the member
        - AdaBoost, ours and scikit-learn's: the vote of the member, `estimator_weights_`
        - coterie's GradientBoostingClassifier: half the score, of at most the largest leaf of each tree

    X : a table with the columns of `fit`
    y : array of shape (n_rows,), the labels
    rounds : int, list of ints, "all" or None
        After how many rounds, or members, counted from 1. None is after the last. Default None: the model as it
        predicts.
    votes : {"hard", "soft"}
        Forests, bagging and voting: whether a member votes for its most probable class, or shares its vote among the
        classes as their probabilities are. Default "hard": the votes of the theorems.
    oob : bool
        Forests and bagging: whether only members that did not draw a row vote on it. X is the training table then.
        Default False: X may be any table; set it for the training table, on which full votes are too confident.
    sample_weight : array of shape (n_rows,), how often each row counts in shares and means
        Default None: every row counts once.

    Returns
    -------
    Margins

    Notes
    -----
    The score of gradient boosting is the sum of where it starts and of one leaf of each tree. Its margin is y times
    the score, divided by the largest that this sum can be: the start, and the largest leaf of each tree. With more
    than two classes it is half the difference between the score of the class and the largest of another, divided in
    the same way. Such margins are small, since few rows reach the largest leaf of every tree; compare them with each
    other, not with those of other ensembles.

    Examples
    --------
    >>> from coterie import RandomForestClassifier
    >>> from coterie.datasets import load_table
    >>> table, kind = load_table("wine")
    >>> forest = RandomForestClassifier(200, random_state=0).fit(table, kind)
    >>> found = margins(forest, table, kind, rounds=[5, 200], oob=True)
    >>> bool(found.error()[1] < 0.05)
    True

    References
    ----------
    Schapire, Freund, Bartlett and Lee, Boosting the margin (1998).
    """
    given = votes_of(model, X, votes=votes, oob=oob)
    chosen = chosen_rounds(rounds, given.n_rounds)
    found: AnyArray = np.array(list(staged_margins(given, y, chosen)))
    return Margins(found, chosen, read_weight(sample_weight, found.shape[1]))


def error_by_round(
    model: Any, X: Any, y: Any, *, votes: str = "hard", oob: bool = False, sample_weight: Any = None
) -> FloatArray:
    """The share of rows for which another class than theirs has the most votes, after each round or member.

    On a tie the first class counts, as in `predict`. Rows that no member so far left out take no part out of bag, and
    the error is NaN where that leaves none.

    Parameters
    ----------
    model, X, y, votes, oob, sample_weight : as in `margins`
        Default: those of `margins`, for the reasons that are given there.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> error_by_round(AdaBoostClassifier(n_estimators=50, random_state=0).fit(X, y), X, y)[[0, 9, 49]]
    array([0.13 , 0.025, 0.   ])
    """
    given_votes = votes_of(model, X, votes=votes, oob=oob)
    errors = np.full(given_votes.n_rounds, np.nan)
    codes, weight = None, None
    for place, count in enumerate(given_votes.after(chosen_rounds("all", given_votes.n_rounds))):
        if codes is None:
            codes = codes_of(y, given_votes.classes, len(count.votes))
            given = read_weight(sample_weight, len(codes))
            weight = np.ones(len(codes)) if given is None else given
        assert weight is not None
        voted = weight * np.broadcast_to(count.total > 0, weight.shape)
        if voted.any():
            errors[place] = np.average(count.votes.argmax(axis=1) != codes, weights=voted)
    return errors
