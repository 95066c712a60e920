"""How the members of a fitted ensemble vote, at the end and after some of its rounds: the protocols of votes, and what
is refused.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._params import in_short
from coterie._typing import AnyArray, RowArray
from coterie.diagnostics.sklearn_adapters import SKLEARN_VOTERS, with_protocols
from coterie.diagnostics.votes.voting_margins import chosen_rounds
from coterie.errors import InvalidInput, InvalidParameter, InvalidType
from coterie.members.protocols import HasStagedVotes
from coterie.members.votes import VoteCount, Votes, check_vote_choices, refuse_soft_or_oob

_EXPECTED = (
    "a fitted classifier: coterie's forests, GradientBoostingClassifier or one with votes or staged_votes; or "
    f"scikit-learn's {', '.join(SKLEARN_VOTERS[:-1])} or {SKLEARN_VOTERS[-1]}"
)


def votes_of(model: Any, X: Any, *, votes: str = "hard", oob: bool = False) -> Votes:
    """The votes of a fitted ensemble on a table; see `margins` for what is a vote."""
    check_vote_choices(votes, oob)
    ensemble = with_protocols(model)
    if hasattr(ensemble, "votes"):
        _check_classes(model)
        found: Votes = ensemble.votes(X, votes=votes, oob=oob)
        return found
    if not hasattr(ensemble, "staged_votes"):
        raise InvalidType(
            f"{in_short(model)} is no ensemble of voters that is known here. Expected {_EXPECTED}.",
            parameter="model",
            received=model,
            allowed=_EXPECTED,
        )
    _check_classes(model)
    refuse_soft_or_oob(type(model).__name__, votes, oob)
    return _staged_votes(ensemble, X)


def _staged_votes(model: HasStagedVotes, X: Any) -> Votes:
    """The votes of a model that counts them itself."""
    totals = np.cumsum(np.abs(np.asarray(model.estimator_weights_, dtype=np.float64)))
    if hasattr(model, "vote_history_"):
        totals = np.abs(np.asarray(model.vote_history_, dtype=np.float64)).sum(axis=1)

    def after(rounds: RowArray) -> Iterator[VoteCount]:
        wanted = set(rounds.tolist())
        for number, votes in enumerate(islice(model.staged_votes(X), int(rounds[-1])), start=1):
            if number in wanted:
                yield VoteCount(np.array(votes, dtype=np.float64), totals[number - 1])

    return Votes(np.asarray(model.classes_), len(totals), after)


def _check_classes(model: Any) -> None:
    if not hasattr(model, "classes_"):
        check_is_fitted(model)
    name = type(model).__name__
    if isinstance(model.classes_, list):
        raise InvalidInput(
            f"Margins are for one target, and this {name} was fitted to {len(model.classes_)}.",
            parameter="model",
            received=len(model.classes_),
            allowed="a model of one target",
            hint="Fit one for each.",
        )
    if len(model.classes_) < 2:
        raise InvalidInput(
            f"A margin compares a class with the others, and this {name} knows only {model.classes_[0]!r}. Expected a "
            "model of two classes at least.",
            parameter="model",
            received=len(model.classes_),
            allowed="a model of two classes at least",
        )


def staged_predictions(model: Any, X: Any, stages: Any) -> tuple[RowArray, list[AnyArray]]:
    """The numbers of the chosen stages, and what `predict` would be after each.

    `stages` is None for the model as it is; "all", a number or some numbers for models that have rounds or members.
    """
    n_stages = n_stages_of(model)
    if stages is None:
        return np.array([n_stages or 1]), [np.asarray(model.predict(X))]
    if n_stages is None:
        raise InvalidParameter(
            f"stages={in_short(stages)}: {type(model).__name__} has no rounds, and no members that could predict "
            "without the others. Expected None.",
            parameter="stages",
            received=stages,
            allowed="None",
        )
    numbers = chosen_rounds(stages, n_stages)
    return numbers, list(_predictions_after(model, X, numbers))


def n_stages_of(model: Any) -> int | None:
    """How many rounds or members a model has; None if they cannot be looked at one by one."""
    if hasattr(model, "staged_predict"):
        members = getattr(model, "estimators_", None)
        known = getattr(model, "n_estimators_", getattr(model, "n_iter_", None))
        return int(known) if known is not None else None if members is None else len(members)
    ensemble = with_protocols(model)
    return int(ensemble.n_estimators_) if hasattr(ensemble, "predict_after") else None


def _predictions_after(model: Any, X: Any, numbers: RowArray) -> Iterator[AnyArray]:
    if not hasattr(model, "staged_predict"):
        found: Iterator[AnyArray] = with_protocols(model).predict_after(X, numbers)
        return found
    wanted = set(numbers.tolist())
    staged = islice(model.staged_predict(X), int(numbers[-1]))
    return (np.array(own) for number, own in enumerate(staged, start=1) if number in wanted)
