"""How the members of an ensemble vote, what each of them predicts, and margins: how far a row's class is ahead."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from coterie._params import Integer, in_short
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.target import read_target
from coterie.diagnostics.checks import several_targets
from coterie.diagnostics.sklearn_adapters import SKLEARN_VOTERS, labels_or_numbers, with_protocols
from coterie.errors import InvalidInput, InvalidParameter, InvalidType
from coterie.members.member_predictions import MemberPredictions
from coterie.members.protocols import HasStagedVotes
from coterie.members.votes import VoteCount, Votes, check_vote_choices, refuse_soft_or_oob

_ROUNDING = 1e-9


def voting_margins(count: VoteCount, codes: AnyArray) -> FloatArray:
    """The votes for the class of each row minus the most for another class, divided by all votes.

    Rows without any vote are NaN; a model whose votes are all zero has the margin 0.

    Examples
    --------
    >>> votes = np.array([[3.0, 1.0, 1.0], [1.0, 3.0, 1.0]])
    >>> voting_margins(VoteCount(votes, np.array(5.0)), np.array([0, 2]))
    array([ 0.4, -0.4])
    """
    rows = np.arange(len(codes))
    others = count.votes.copy()
    others[rows, codes] = -np.inf
    ahead = count.votes[rows, codes] - others.max(axis=1)
    total = np.broadcast_to(count.total, ahead.shape)
    nothing = np.nan if count.total.ndim else 0.0  # nobody votes on these rows; or all votes are zero
    found = np.divide(ahead, total, out=np.full(len(ahead), nothing), where=total > 0)
    if np.nanmax(np.abs(found), initial=0.0) > 1 + _ROUNDING:
        raise InvalidInput(
            f"A row has the margin {found[np.nanargmax(np.abs(found))]:.3g}, outside [-1, 1]: the votes of the model "
            "are larger than its estimator_weights_, so that they cannot be normalised. Margins are for members that "
            "give their votes to a class, or to classes in shares.",
            parameter="model",
            received=float(found[np.nanargmax(np.abs(found))]),
            allowed="margins in [-1, 1]",
        )
    return np.asarray(np.clip(found, -1.0, 1.0))


def staged_margins(votes: Votes, y: Any, rounds: RowArray) -> Iterator[FloatArray]:
    """The margins of all rows after each of these rounds."""
    codes: AnyArray | None = None
    for count in votes.after(rounds):
        if codes is None:
            codes = codes_of(y, votes.classes, len(count.votes))
        yield voting_margins(count, codes)


def codes_of(y: Any, classes: AnyArray, n_rows: int) -> AnyArray:
    """The place of each label among the classes of a model.

    Examples
    --------
    >>> codes_of(["b", "a", "b"], np.array(["a", "b", "c"]), 3)
    array([1, 0, 1])
    """
    target = read_target(y, task="classification", estimator_name="voting", n_rows=n_rows)
    known = {label: code for code, label in enumerate(classes.tolist())}
    labels = np.asarray(target.classes).tolist()
    strange = [label for label in labels if label not in known]
    if strange:
        raise InvalidInput(
            f"y holds {in_short(strange[0])}, which is no class of the model. Its classes are "
            f"{in_short(classes.tolist())}.",
            parameter="y",
            received=strange[0],
            allowed=in_short(classes.tolist()),
        )
    return np.array([known[label] for label in labels], dtype=np.intp)[target.values]


def chosen_rounds(rounds: Any, n_rounds: int) -> RowArray:
    """The numbers of the chosen rounds, ascending: the last, "all", one, or some.

    Examples
    --------
    >>> chosen_rounds(None, 9), chosen_rounds("all", 3), chosen_rounds([5, 2], 9)
    (array([9]), array([1, 2, 3]), array([2, 5]))
    """
    if rounds is None:
        return np.array([n_rounds])
    if isinstance(rounds, str) and rounds == "all":
        return np.arange(1, n_rounds + 1)
    rule = Integer(1, n_rounds)
    given = [rounds] if np.ndim(rounds) == 0 else list(rounds)
    wrong = [number for number in given if not rule.accepts(number)]
    if wrong or not given:
        what = in_short(wrong[0]) if wrong else "an empty list"
        raise InvalidParameter.expecting(
            f"rounds={in_short(rounds)} holds {what}",
            f"None, 'all', or one or several of {rule.describe()}",
            "rounds",
            rounds,
        )
    return np.unique(np.array(given, dtype=np.int64))


_EXPECTED_VOTERS = (
    "a fitted classifier: coterie's forests, GradientBoostingClassifier, AdaBoostClassifier or another with "
    "votes or staged_votes; or "
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
        raise InvalidType.expecting(
            f"{in_short(model)} is no ensemble of voters that is known here", _EXPECTED_VOTERS, "model", model
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
    if isinstance(model.classes_, list):
        raise several_targets("Margins are for", model, len(model.classes_))
    if len(model.classes_) < 2:
        raise InvalidInput.expecting(
            f"A margin compares a class with the others, and this {type(model).__name__} knows only "
            f"{model.classes_[0]!r}",
            "a model of two classes at least",
            "model",
            len(model.classes_),
        )


def staged_predictions(model: Any, X: Any, stages: Any) -> tuple[RowArray, list[AnyArray]]:
    """The numbers of the chosen stages, and what `predict` would be after each.

    `stages` is None for the model as it is; "all", a number or some numbers for models that have rounds or members.
    """
    n_stages = n_stages_of(model)
    if stages is None:
        return np.array([n_stages or 1]), [np.asarray(model.predict(X))]
    if n_stages is None:
        raise InvalidParameter.expecting(
            f"stages={in_short(stages)}: {type(model).__name__} has no rounds, and no members that could predict "
            "without the others",
            "None",
            "stages",
            stages,
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


_EXPECTED = (
    "a fitted forest, bagging, voting, stacking, selection, committee or AdaBoost, of coterie or scikit-learn, or a "
    "list of fitted models"
)


def is_list_of_models(model: Any) -> bool:
    """Whether several models were given instead of an ensemble."""
    return isinstance(model, list | tuple | Mapping)


def member_predictions_of(model: Any, X: Any) -> MemberPredictions:
    """The predictions of the members of a fitted ensemble, or of a list or dict of models, which have equal weights.

    There is one target and there are two members at least. Of classes there is a column for each.
    """
    if is_list_of_models(model):
        return _of_models(model, X)
    check_is_fitted(model)
    classes = getattr(model, "classes_", None) if is_classifier(model) else None
    if isinstance(classes, list):
        raise several_targets("Members are compared on", model, len(classes))
    ensemble = with_protocols(model)
    if not hasattr(ensemble, "member_predictions"):
        raise InvalidType(
            f"{in_short(model)} has no members that predict by themselves. Expected {_EXPECTED}. Rounds of gradient "
            "boosting correct each other, and mean nothing alone.",
            parameter="model",
            received=model,
            allowed=_EXPECTED,
        )
    found: MemberPredictions = ensemble.member_predictions(X)
    if found.n_targets > 1:
        raise several_targets("Members are compared on", model, found.n_targets)
    if found.classes and found.values.shape[2] == 1:  # one score for two classes
        found = replace(found, values=np.concatenate([-found.values, found.values], axis=2))
    if len(found.values) < 2:
        raise _too_few(f"this {type(model).__name__} has", len(found.values))
    return found


def _of_models(models: Any, X: Any) -> MemberPredictions:
    pairs = list(models.items() if isinstance(models, Mapping) else enumerate(models, start=1))
    if len(pairs) < 2:
        raise _too_few("the list has", len(pairs))
    for _, model in pairs:
        check_is_fitted(model)
    kinds = {is_classifier(model) for _, model in pairs}
    if len(kinds) > 1:
        raise InvalidInput(
            "Some of the models are classifiers and some are not: they cannot be compared.",
            parameter="model",
            allowed="classifiers only, or regressors only",
        )
    classes = None
    if kinds == {True}:
        classes = np.unique(np.concatenate([own.classes_ for _, own in pairs]))
    names = tuple(
        f"{place} {type(model).__name__}" if isinstance(place, int) else str(place) for place, model in pairs
    )
    values = [
        labels_or_numbers(model.predict(X), classes, name)
        for name, (_, model) in zip(names, pairs, strict=True)
    ]
    return MemberPredictions(
        np.stack(values), np.ones(len(values)), names, () if classes is None else (classes,)
    )


def _too_few(owner: str, n_members: int) -> InvalidInput:
    return InvalidInput(
        f"Members are compared with each other, and {owner} {n_members}.",
        parameter="model",
        received=n_members,
        allowed="two members at least",
    )
