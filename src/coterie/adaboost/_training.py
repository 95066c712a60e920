"""One fit of AdaBoost: what its parameters allow, who keeps the weights, and the loop over the rounds."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie._params import (
    ArrayLike,
    Boolean,
    EstimatorLike,
    Integer,
    MappingLike,
    OneOf,
    Params,
    Real,
    Seed,
    in_short,
    spawn_seeds,
)
from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie._value_types import ANY, FLOAT_VECTOR, MODEL, NONE, NUMBER, TEXT, dict_of, list_of
from coterie.adaboost._learners import Learner, WeightedDraws, as_given_to_learners, check_learner
from coterie.adaboost._rounds import (
    CorrectiveRounds,
    Fitter,
    JointVotes,
    LeastLoss,
    MemberRounds,
    Rounds,
    StumpRounds,
    Tally,
    WidestMargin,
    chosen_classes,
    scores_of_shares,
)
from coterie.adaboost._stumps import StumpFitter
from coterie.adaboost._votes import ALGORITHMS, MemberVotes, VoteDecision, decide_vote
from coterie.data.encoding import take_rows
from coterie.data.parts import rows_of
from coterie.data.prepare import TrainingData
from coterie.errors import InvalidParameter
from coterie.fitting.checkpoint import CheckpointLike
from coterie.fitting.checkpoint_lists import CheckpointedLists
from coterie.fitting.eval_set import EvalSet
from coterie.members.weight_parameter import weight_parameter

ADABOOST_PARAMS: Params = {
    "estimator": [EstimatorLike(), None],
    "n_estimators": [Integer(1)],
    "learning_rate": [Real(0, None, closed="neither")],
    "algorithm": [OneOf(*ALGORITHMS)],
    "method": [OneOf("reweight", "resample")],
    "on_weak": [OneOf("flip", "stop")],
    "corrective": [OneOf("exponential", "margin"), None],
    "nu": [Real(0, 1, closed="right"), None],
    "max_bins": [Integer(2, 255)],
    "categorical_features": [ArrayLike(), OneOf("auto"), None],
    "unknown_category": [OneOf("missing", "error")],
    "class_weight": [MappingLike(), OneOf("balanced"), None],
    "warm_start": [Boolean()],
    "random_state": [Seed()],
    "n_jobs": [Integer(), None],
    "checkpoint": [CheckpointLike(), None],
}
_OF_STUMPS = {"max_bins": 255, "categorical_features": "auto", "unknown_category": "missing"}
_DEFAULT_NU = 0.1

# With another value the known members would not be the first members of the longer fit.
_SETTLED = ("learning_rate", "algorithm", "method", "on_weak", "corrective", "nu", *_OF_STUMPS)


def check_together(estimator: Any) -> None:
    """Refuse parameters that contradict one another."""
    if estimator.nu is not None and estimator.corrective != "margin":
        raise InvalidParameter(
            f"nu={estimator.nu!r} has no meaning with corrective={estimator.corrective!r}: it is how much of the "
            "weight may lie inside the margin. Leave it at None, or set corrective='margin'."
        )
    if estimator.corrective is not None and estimator.learning_rate != 1:
        raise InvalidParameter(
            f"learning_rate={estimator.learning_rate!r} has no meaning with corrective={estimator.corrective!r}, which "
            "finds all votes anew after each round. Set learning_rate=1, or corrective=None."
        )
    if estimator.estimator is None:
        return
    for name, default in _OF_STUMPS.items():
        value = getattr(estimator, name)
        if np.ndim(value) > 0 or value != default:
            raise InvalidParameter(
                f"{name}={in_short(value)} is about the stumps that estimator=None stands for, and "
                f"estimator={in_short(estimator.estimator)} has its own ways. Set it back to {default!r}."
            )
    check_learner(estimator.estimator, estimator.algorithm)


@storable("AdaBoostSettings", {"_values": dict_of(TEXT, ANY)})
class AdaBoostSettings:
    """What a continued fit has to share with the one before."""

    def __init__(self, estimator: Any) -> None:
        self._values = {name: repr(getattr(estimator, name)) for name in ("estimator", *_SETTLED)}

    def check_same(self, earlier: "AdaBoostSettings") -> None:
        for name, value in self._values.items():
            if earlier._values[name] != value:
                raise InvalidParameter(
                    f"{name}={value} cannot continue a fit with {name}={earlier._values[name]}: its members would not "
                    "be the first members of this one. Set it back, or set warm_start=False to begin anew."
                )


def rounds_for(
    estimator: Any, X: Any, train: TrainingData, seed: int, n_threads: int
) -> tuple[Rounds, AnyArray]:
    """Who keeps the weights, and the rows that take part: for learners those with weight, for stumps all."""
    codes, n_classes = train.target.values, len(estimator.classes_)
    first = np.ones(len(codes)) if train.weight is None else train.weight
    counts = train.sample_weight
    by_draws = estimator.method_ == "resample"
    rows = np.arange(len(codes))
    fitter: StumpFitter | Learner
    if estimator.estimator is None:
        draws = WeightedDraws(train.encoded, codes, counts) if by_draws else None
        fitter = StumpFitter(estimator, train, seed, n_threads, draws)
        if draws is None and estimator.corrective is None:
            return StumpRounds(fitter, codes, n_classes, train.weight), rows
    else:
        X, encoded = as_given_to_learners(X, estimator.schema_), train.encoded
        if not first.all():
            rows = np.flatnonzero(first)
            X, encoded, codes, first = rows_of(X, rows), take_rows(encoded, rows), codes[rows], first[rows]
            counts = None if counts is None else counts[rows]
        fitter = Learner(
            estimator.estimator,
            estimator.algorithm,
            estimator.classes_,
            X=X,
            codes=codes,
            scale=float(first.sum()),
            draws=WeightedDraws(encoded, codes, counts) if by_draws else None,
        )
    return _member_rounds(estimator, fitter, codes, first / first.sum()), rows


def _member_rounds(estimator: Any, fitter: Fitter, codes: AnyArray, first: FloatArray) -> Rounds:
    n_classes = len(estimator.classes_)
    if estimator.corrective is None:
        return MemberRounds(fitter, codes, n_classes, first)
    joint_votes: JointVotes = LeastLoss(codes, first)
    if estimator.corrective == "margin":
        joint_votes = WidestMargin(codes, first, _DEFAULT_NU if estimator.nu is None else float(estimator.nu))
    return CorrectiveRounds(fitter, codes, n_classes, first, joint_votes)


def method_of(estimator: Any) -> str:
    """Whether members see weights or drawn rows."""
    learner = estimator.estimator
    takes_none = learner is not None and weight_parameter(learner) is None
    return "resample" if takes_none else str(estimator.method)


@storable(
    "AdaBoostLog",
    {
        "members": list_of(MODEL | list_of(MODEL)),
        "vote_rows": list_of(FLOAT_VECTOR),
        "ended": TEXT | NONE,
        **dict.fromkeys(
            ("votes", "errors", "normalizers", "losses", "train_errors", "validation_errors"), list_of(NUMBER)
        ),
    },
)
@dataclass
class RoundLog:
    """What a fit has found, round by round."""

    members: list[Any] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    normalizers: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    train_errors: list[float] = field(default_factory=list)
    validation_errors: list[float] = field(default_factory=list)
    vote_rows: list[FloatArray] = field(default_factory=list)  # all votes after each round, if they change
    ended: str | None = None

    def add(self, member: Any, vote: float, member_votes: MemberVotes, tally: Tally) -> None:
        before = self.losses[-1] if self.losses else 1.0
        self.members.append(member)
        self.errors.append(member_votes.error)
        self.losses.append(tally.loss)
        self.train_errors.append(tally.train_error)
        if tally.votes is None:
            self.votes.append(vote)
            self.normalizers.append(member_votes.normalizer(vote))
        else:
            self.votes = tally.votes.tolist()
            self.vote_rows.append(tally.votes)
            self.normalizers.append(tally.loss / before if before > 0 else 1.0)

    def lists(self, *, has_votes: bool, has_eval_set: bool) -> dict[str, list[Any]]:
        """The lists that grow by an entry a round, by name."""
        names = ["members", "errors", "normalizers", "losses", "train_errors"]
        names += ["votes" if has_votes else "vote_rows"] + ["validation_errors"] * has_eval_set
        return {name: getattr(self, name) for name in names}

    def first(self, number: int) -> "RoundLog":
        """The log after so many rounds."""
        held = {name: value[:number] for name, value in vars(self).items() if isinstance(value, list)}
        return RoundLog(**(held | {"votes": self.votes_after(number).tolist()}))

    def copied(self) -> "RoundLog":
        """The same, with lists of its own."""
        twin = copy(self)
        for name, held in vars(self).items():
            setattr(twin, name, copy(held))
        return twin

    def votes_after(self, number: int) -> FloatArray:
        """The votes of the members after so many rounds."""
        return self.vote_rows[number - 1] if self.vote_rows else np.array(self.votes[:number])


class EvalErrorTracker:
    """The error of the members so far on the rows of `eval_set`."""

    def __init__(self, eval_set: EvalSet, shares_of_member: Any, n_classes: int) -> None:
        self._target = eval_set.target
        weight = np.ones(len(self._target)) if eval_set.weight is None else eval_set.weight
        self._weight = weight / weight.sum()
        self._shares_of_member = shares_of_member
        self._kept_scores: list[FloatArray] = []
        self._scores = scores_of_shares(np.zeros((len(self._target), n_classes)))

    def error_after(self, log: RoundLog) -> float:
        """The error after the latest round; to be called once after each."""
        scores = scores_of_shares(self._shares_of_member(log.members[len(self._kept_scores)]))
        self._kept_scores.append(scores if log.vote_rows else np.empty(0))
        if log.vote_rows:
            self._scores = np.tensordot(
                log.votes_after(len(self._kept_scores)), np.stack(self._kept_scores), axes=1
            )
        else:
            self._scores = self._scores + log.votes[len(self._kept_scores) - 1] * scores
        return float(self._weight[chosen_classes(self._scores) != self._target].sum())


def boost(
    estimator: Any,
    rounds: Rounds,
    log: RoundLog,
    seed: int,
    eval_errors: EvalErrorTracker | None,
    watch: Callable[[RoundLog], bool],
    kept: CheckpointedLists | None = None,
) -> None:
    """The loop: goes on from the members that the log knows, and writes the others into it.

    `watch` is called after each round and returns whether to stop. With `kept`, what the log knows are rounds of this
    very fit, and it is called for them again.
    """
    n_classes, n_known = len(estimator.classes_), len(log.members)

    def decision_on(member_votes: MemberVotes) -> VoteDecision:
        return decide_vote(member_votes, estimator.algorithm, n_classes, estimator.on_weak)

    for number, member in enumerate(log.members, start=1):
        member_votes = rounds.recall(member)
        votes = log.votes_after(number)
        rounds.count(float(votes[-1]), votes if log.vote_rows else None)
        if eval_errors is not None:
            eval_errors.error_after(log)
        if kept is not None:
            ends = decision_on(member_votes).ends
            log.ended = None if ends is None else f"member {number} {ends}"
            if watch(log.first(number)):
                log.ended = None
                return
    if log.ended is not None:
        return
    seeds = spawn_seeds(seed, int(estimator.n_estimators))
    for number in range(n_known, int(estimator.n_estimators)):
        member, member_votes = rounds.fit_member(int(seeds[number]))
        decision = decision_on(member_votes)
        if not rounds.is_useful():
            log.ended = f"member {number + 1} could not widen the margin"
            return
        if decision.ends is not None:
            log.ended = f"member {number + 1} {decision.ends}"
        if decision.vote is None and number > 0:
            return
        # A first member that is of no use is kept, without a vote, so that there is a model.
        useless = decision.vote is None
        vote = 0.0 if decision.vote is None else float(estimator.learning_rate) * decision.vote
        log.add(member, vote, member_votes, rounds.count(vote, np.zeros(1) if useless else None))
        if eval_errors is not None:
            log.validation_errors.append(eval_errors.error_after(log))
        if kept is not None:
            kept.look()
        if watch(log):
            log.ended = None
            return
        if log.ended is not None:
            return


def weights_by_round(
    estimator: Any, rounds: Rounds, rows: AnyArray, n_rows: int, log: RoundLog, seed: int
) -> tuple[FloatArray, RowArray | None]:
    """The weights before each round of a fit and after the last, and how often rows were drawn; see the estimator."""
    n_members = len(log.members)
    weights = np.zeros((n_members + 1, n_rows))
    resamples = estimator.method_ == "resample"
    draws = np.zeros((n_members, n_rows), dtype=np.int64) if resamples else None
    for number, seed_of_round in enumerate(spawn_seeds(seed, n_members)):
        weights[number, rows] = rounds.row_weights()
        if draws is not None and isinstance(rounds, MemberRounds):
            drawn = rounds.drawn_rows(int(seed_of_round))
            draws[number, rows] = np.bincount(drawn, minlength=len(rows))
        rounds.recall(log.members[number])
        votes = log.votes_after(number + 1)
        rounds.count(float(votes[-1]), votes if log.vote_rows else None)
    weights[n_members, rows] = rounds.row_weights()
    return weights, draws
