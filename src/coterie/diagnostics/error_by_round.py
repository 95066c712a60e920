"""How often an ensemble is wrong after each of its rounds."""

from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.data.weight import read_weight
from coterie.diagnostics.votes.ensemble_votes import votes_of
from coterie.diagnostics.votes.voting_margins import chosen_rounds, codes_of


def error_by_round(
    model: Any, X: Any, y: Any, *, votes: str = "hard", oob: bool = False, sample_weight: Any = None
) -> FloatArray:
    """The share of rows for which another class than theirs has the most votes, after each round or member.

    On a tie the first class counts, as in `predict`. Parameters are those of `margins`; rows that no member so far left
    out take no part out of bag, and the error is NaN where that leaves none.

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
