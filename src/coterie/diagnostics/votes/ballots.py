"""Which ensemble is it, and how do its members vote? One function decides; the rest is one function for each kind.

An ensemble of somebody else's takes part if it has `classes_`, `estimator_weights_` (its votes, which may be negative)
and `staged_votes(X)`, which yields after each round the votes of each class so far, shape (n_rows, n_classes). If votes
change from round to round, `vote_history_` holds them, one row for each round.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._params import Flag, OneOf, Rule, in_short
from coterie._typing import RowArray
from coterie.boosting.gradient_boosting import GradientBoostingClassifier
from coterie.diagnostics.votes.boosting_ballots import boosting_ballots
from coterie.diagnostics.votes.forest_ballots import forest_ballots
from coterie.diagnostics.votes.sklearn_ballots import sklearn_adaboost_ballots, sklearn_member_ballots
from coterie.diagnostics.votes.tally import Ballots, Tally
from coterie.errors import InvalidInput, InvalidParameter, InvalidType
from coterie.forests._classifier_base import ForestOfClasses

__all__ = ["ballots_of"]

_SCIKIT_LEARN_MEMBERS = (
    "BaggingClassifier",
    "RandomForestClassifier",
    "ExtraTreesClassifier",
    "VotingClassifier",
)


def ballots_of(model: Any, X: Any, *, votes: str = "hard", oob: bool = False) -> Ballots:
    """The votes of a fitted ensemble on a table; see `margins` for what is a vote."""
    _check_choices(votes, oob)
    if isinstance(model, ForestOfClasses):
        _check_classes(model)
        return forest_ballots(model, X, soft=votes == "soft", oob=oob)
    if _is_from_scikit_learn(model, _SCIKIT_LEARN_MEMBERS):
        _check_classes(model)
        return sklearn_member_ballots(model, X, soft=votes == "soft", oob=oob)
    make = _maker(model)
    _check_classes(model)
    name = type(model).__name__
    if votes == "soft":
        raise InvalidParameter(
            f"votes='soft' has no meaning for {name}, whose members do not vote by probabilities: expected 'hard'."
        )
    if oob:
        raise InvalidParameter(
            f"oob=True has no meaning for {name}: each of its members depends on those before it, and so on all rows. "
            "Expected False."
        )
    return make(model, X)


def _maker(model: Any) -> Callable[[Any, Any], Ballots]:
    if isinstance(model, GradientBoostingClassifier):
        return boosting_ballots
    if hasattr(model, "staged_votes"):
        return _staged_ballots
    if _is_from_scikit_learn(model, ("AdaBoostClassifier",)):
        return sklearn_adaboost_ballots
    raise InvalidType(
        f"{in_short(model)} is no ensemble of voters that is known here. Expected a fitted classifier: coterie's "
        "forests, GradientBoostingClassifier or one with staged_votes; or scikit-learn's AdaBoostClassifier, "
        f"{', '.join(_SCIKIT_LEARN_MEMBERS[:-1])} or {_SCIKIT_LEARN_MEMBERS[-1]}."
    )


def _staged_ballots(model: Any, X: Any) -> Ballots:
    """The votes of a model that counts them itself."""
    totals = np.cumsum(np.abs(np.asarray(model.estimator_weights_, dtype=np.float64)))
    if hasattr(model, "vote_history_"):
        totals = np.abs(np.asarray(model.vote_history_, dtype=np.float64)).sum(axis=1)

    def after(rounds: RowArray) -> Iterator[Tally]:
        wanted = set(rounds.tolist())
        for number, votes in enumerate(islice(model.staged_votes(X), int(rounds[-1])), start=1):
            if number in wanted:
                yield Tally(np.array(votes, dtype=np.float64), totals[number - 1])

    return Ballots(np.asarray(model.classes_), len(totals), after)


def _is_from_scikit_learn(model: Any, names: tuple[str, ...]) -> bool:
    """Whether the model's class, or one that it descends from, is one of these; they are not imported for it."""
    return any(
        kind.__name__ in names and kind.__module__.startswith("sklearn.ensemble.")
        for kind in type(model).__mro__
    )


def _check_choices(votes: object, oob: object) -> None:
    rules: dict[str, tuple[object, Rule]] = {"votes": (votes, OneOf("hard", "soft")), "oob": (oob, Flag())}
    for name, (value, rule) in rules.items():
        if not rule.accepts(value):
            raise InvalidParameter(f"{name}={in_short(value)}: expected {rule.describe()}.")


def _check_classes(model: Any) -> None:
    if not hasattr(model, "classes_"):
        check_is_fitted(model)
    name = type(model).__name__
    if isinstance(model.classes_, list):
        raise InvalidInput(
            f"Margins are for one target, and this {name} was fitted to {len(model.classes_)}. Fit one for each."
        )
    if len(model.classes_) < 2:
        raise InvalidInput(
            f"A margin compares a class with the others, and this {name} knows only {model.classes_[0]!r}. Expected a "
            "model of two classes at least."
        )
