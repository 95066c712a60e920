"""What voting of classes and of numbers share: members fitted side by side, and their predictions combined."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from coterie._params import ArrayLike, Integer, OneOf, Params, check_params, in_short
from coterie._sklearn import check_feature_names_in
from coterie._storage import Fitted
from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray
from coterie._value_types import FLOATS, NONE, array, instance
from coterie.combining._combine import RankScales, mean, median
from coterie.data.target import Target
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.estimator import forget
from coterie.fitting.fitted_state import PRUNED_FITTED
from coterie.members.fit_members import Member
from coterie.members.member_predictions import MemberPredictions
from coterie.members.named_members import (
    MEMBER_PARAMS,
    MEMBERS_FITTED,
    OUT_OF_FOLD_FITTED,
    GivenAtFit,
    MemberFitData,
    NamedMembers,
    member_weights,
)
from coterie.members.oof_score import Score
from coterie.members.out_of_fold import CrossFit, Splitter, folds_of, prefit_members, splitter_of
from coterie.members.response import ResponseMethod

VOTING_PARAMS: Params = {
    **MEMBER_PARAMS,
    "weights": [ArrayLike(), OneOf("learned"), None],
    "cv": [Integer(2), Splitter(), OneOf("prefit"), None],
}
VOTING_FITTED: Fitted = {
    **MEMBERS_FITTED,
    **PRUNED_FITTED,
    "weights_": FLOATS | NONE,
    "_crossed": instance(CrossFit) | NONE,
    "_row_weight": FLOATS | NONE,
    "_scales": instance(RankScales) | NONE,
    "_truth": array("fiub"),
    "_weights": FLOATS | NONE,
}


def _is_mean(ensemble: Any) -> bool:
    """Medians and ranks have no weighted mean that fewer members could come close to."""
    return ensemble.voting in ("soft", "hard", "mean")


class BaseVoting(TransformerMixin, NamedMembers):
    """The way of `fit`, and what members predict for rows."""

    PARAMS: ClassVar[Params] = VOTING_PARAMS
    FITTED: ClassVar[Fitted] = VOTING_FITTED

    weights_: FloatArray
    _weights: FloatArray | None
    _scales: RankScales | None
    _crossed: CrossFit | None
    _truth: AnyArray
    _row_weight: FloatArray | None

    # What those of classes and those of numbers each define.
    _response: Callable[[Member, Target], ResponseMethod]
    _learned: Callable[[BoolArray], FloatArray]
    _score: Callable[[FloatArray, FloatArray | None, BoolArray], Score]
    _output: Callable[[FloatArray], AnyArray]
    _n_columns_out: Callable[[], int]

    def _check_members(self) -> list[str]:
        names = super()._check_members()
        if self.weights is not None and not self._is_learned():
            member_weights(self.weights, len(names))
        return names

    def _fit_members(self, data: MemberFitData, members: list[Member]) -> None:
        crossed = self._crossed_members(data, members, self._given(data, members))
        self._set_members(crossed.members, crossed.questions, crossed.models, crossed.dropped)
        self._crossed = None
        if crossed.answers:
            self._crossed = replace(crossed, members=[], models=[], questions=[])
        self._truth, self._row_weight = data.target.values, data.weight
        self._combine_anew(lambda: self._stacked(data.X))

    def _crossed_members(self, data: MemberFitData, members: list[Member], given: GivenAtFit) -> CrossFit:
        """Fitted members, and, where folds are wanted, what they predict out of fold."""
        responses = [self._response(member, data.target) for member in members]
        if isinstance(self.cv, str):
            wants = self._is_learned() or self._has_ranks()
            return prefit_members(members, responses, data.X if wants else None, data.n_rows, self.n_jobs)
        folds = []
        if self.cv is not None or self._is_learned():
            splitter = splitter_of(self.cv, data.labels, classifier=bool(data.classes))
            folds = folds_of(
                splitter, data.X, data.labels, data.n_rows, type(self).__name__, **given.of_split
            )
        elif given.of_split:
            raise InvalidInput(
                "groups are rows that folds may not part, and this fit makes no folds.",
                parameter="groups",
                hint="Leave groups out, or set cv.",
            )
        return self._cross_fit(data, members, responses, given, folds, random_state=self.random_state)

    def recombined(self, **choices: Any) -> Self:
        """Another way to combine the same fitted members, as a new ensemble; nothing is fitted again.

        Parameters
        ----------
        **choices : `voting` and `weights`, as in the constructor. What is not given stays as it is.

        Learned weights, and ranks, need predictions of members: they can be had if `fit` was given a `cv`, or
        learned weights, and if votes stay votes or probabilities probabilities.
        """
        check_is_fitted(self, "estimators_")
        unknown = sorted(set(choices) - {"voting", "weights"})
        if unknown:
            raise InvalidParameter(
                f"recombined({unknown[0]}=...): expected voting or weights; other parameters need a new fit."
            )
        other = copy.copy(self)
        for name, value in choices.items():
            setattr(other, name, value)
        check_params(other)
        other._asked = other._responses_of_voting(self._asked)
        if other._asked[0][1].method != self._asked[0][1].method:
            other._crossed = None  # what is known out of fold are predictions by another method
        other._combine_anew(None)
        return other

    def _combine_anew(self, fit_predictions: Any) -> None:
        """Find the weights and the scales of ranks, and score the whole out of fold."""
        self._weights = self._weights_now()
        n_members = len(self._asked)
        shares = np.ones(n_members) if self._weights is None else self._weights
        self.weights_ = shares / shares.sum()
        self._scales = self._scales_now(fit_predictions)
        forget(self, OUT_OF_FOLD_FITTED)
        if self._crossed is not None:
            self._set_scores()

    def _weights_now(self) -> FloatArray | None:
        if self.weights is None:
            return None
        if self._is_learned():
            if self._crossed is None:
                raise InvalidParameter(
                    "weights='learned' needs predictions out of fold, and this ensemble was fitted without.",
                    parameter="weights",
                    received=self.weights,
                    hint="Fit it with cv, or with weights='learned'.",
                )
            return self._learned(self._covered())
        given = member_weights(self.weights, len(self._pairs))
        left = {member.name for member, _ in self._asked}
        weights = given[[name in left for name, _ in self._pairs]]
        if not weights.any():
            raise InvalidParameter(
                f"weights={in_short(self.weights)}: the members that are left have no weight."
            )
        return weights

    def _scales_now(self, fit_predictions: Any) -> RankScales | None:
        if not self._has_ranks():
            return None
        if self._crossed is not None:
            covered = self._covered()
            weight = None if self._row_weight is None else self._row_weight[covered]
            return RankScales.of(self._stacked_oof()[:, covered], weight)
        if fit_predictions is None:
            raise InvalidParameter(
                "voting='rank' needs predictions of members, and this ensemble was fitted without.",
                parameter="voting",
                received=self.voting,
                hint="Fit it with cv, or with voting='rank'.",
            )
        return RankScales.of(fit_predictions(), self._row_weight)

    def _set_scores(self) -> None:
        crossed = self._crossed
        assert crossed is not None
        names = [member.name for member, _ in self._asked]
        predictions, covered = self._stacked_oof(), self._covered()
        self.oof_coverage_ = crossed.coverage
        self.oof_predictions_ = Bunch(**dict(zip(names, map(self._output, predictions), strict=True)))
        scores = [self._score(own[None], None, covered) for own in predictions]
        self.member_scores_ = Bunch(**{name: s.value for name, s in zip(names, scores, strict=True)})
        score = self._nested_score(predictions, covered)
        self.oof_score_, self.oof_score_error_ = score.value, score.error

    def _nested_score(self, predictions: FloatArray, covered: BoolArray) -> Score:
        """The score of the combination; learned weights are learned without the rows that they are used on."""
        if not self._is_learned() or len(self._asked) == 1:
            return self._score(predictions, self._weights, covered)
        assert self._crossed is not None
        own = np.zeros((len(covered), len(predictions)))
        times = np.zeros(len(covered), dtype=np.int64)
        for fold in self._crossed.folds:
            known = np.zeros(len(covered), dtype=bool)
            known[fold.train] = True
            known &= covered
            if known.any():
                own[fold.test] += self._learned(known)
                times[fold.test] += 1
        scored = times > 0
        if not scored.any():
            return self._score(predictions, self._weights, covered)
        own[scored] /= times[scored, None]
        return self._score(predictions * (own.T[:, :, None] * len(predictions)), None, scored)

    def _stacked_oof(self) -> FloatArray:
        assert self._crossed is not None
        return np.stack(self._crossed.answers)

    def _covered(self) -> BoolArray:
        assert self._crossed is not None
        return self._crossed.covered(self._row_weight)

    def _mixed(self, predictions: FloatArray, weights: FloatArray | None) -> FloatArray:
        """The predictions combined by `voting`, shape (n_rows, n_columns)."""
        if self.voting == "median":
            return median(predictions, weights)
        if self.voting == "rank":
            assert self._scales is not None
            return self._scales.combined(predictions, weights)
        return mean(predictions, weights)

    def _is_learned(self) -> bool:
        return isinstance(self.weights, str)

    def _has_ranks(self) -> bool:
        return bool(self.voting == "rank")

    def member_predictions(self, X: Any) -> MemberPredictions:
        """What each member predicts, as `voting` wants it: votes, probabilities or numbers."""
        return self._weighted_predictions(X, self.weights_)

    @available_if(_is_mean)  # type: ignore[untyped-decorator]
    def with_members(self, places: RowArray) -> Self:
        """A copy with only the members at these ascending places; what was known out of fold is gone.

        For voting="hard", "soft" and "mean", whose weights go on to be those of a mean.
        """
        pruned = self._with_named_members(places)
        pruned._crossed = None
        pruned.weights_ = self.weights_[places] / self.weights_[places].sum()
        pruned._weights = None if self._weights is None else self._weights[places]
        return pruned

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Names of the columns of `transform`: the ensemble's class, the member and, if it has several, the column."""
        check_is_fitted(self, "estimators_")
        check_feature_names_in(self, input_features, generate_names=False)
        prefix, n_columns = type(self).__name__.lower(), self._n_columns_out()
        names = [f"{prefix}_{member.name}" for member, _ in self._asked]
        if n_columns > 1:
            names = [f"{name}{column}" for name in names for column in range(n_columns)]
        return np.asarray(names, dtype=object)

    def _has_splitter(self) -> bool:
        return self.cv is not None and super()._has_splitter()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _responses_of_voting(
        self, members: list[tuple[Member, ResponseMethod]]
    ) -> list[tuple[Member, ResponseMethod]]:
        """The response methods that the present `voting` needs."""
        return members
