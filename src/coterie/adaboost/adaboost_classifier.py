"""AdaBoost: each member learns from the rows that those before it got wrong, and votes as well as it does."""

from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._params import Params
from coterie._storage import Fitted, storable_estimator
from coterie._typing import (
    AnyArray,
    CategoricalFeatures,
    ClassWeight,
    FloatArray,
    RowArray,
    RowsOrWeights,
    UnknownCategory,
)
from coterie.adaboost._fitted import ADABOOST_CLASSIFIER_FITTED, verify_votes
from coterie.adaboost._learners import checked_rows, prepare_rows
from coterie.adaboost._predictions import BaseAdaBoost
from coterie.adaboost._rounds import scores_of_shares
from coterie.adaboost._stumps import Stump, stump_shares, table_of
from coterie.adaboost._training import (
    ADABOOST_PARAMS,
    AdaBoostSettings,
    EvalErrorTracker,
    RoundLog,
    boost,
    check_together,
    method_of,
    rounds_for,
    weights_by_round,
)
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.data.streaming.scan import Scan
from coterie.data.streaming.training import prepare_whole_scan
from coterie.errors import InvalidInput, ModelFileError
from coterie.fitting.checkpoint_lists import CheckpointedLists, check_numbers, lists_in_checkpoint
from coterie.fitting.checkpoint_writer import CheckpointWriter
from coterie.fitting.estimator import FitRun, FitSignature, signature_of
from coterie.fitting.eval_set import EvalSet, read_eval_set
from coterie.fitting.fingerprint import data_fingerprint
from coterie.fitting.warm_start import BEGIN_ANEW, PreviousFit, check_continues, check_no_fewer


@dataclass(frozen=True)
class AdaBoostState:
    """What a longer fit needs of the last one: its rounds, and the parameters that they depend on."""

    log: RoundLog
    settings: AdaBoostSettings


@storable_estimator(verify=verify_votes)
class AdaBoostClassifier(BaseAdaBoost):
    """AdaBoost for classes.

    Parameters
    ----------
    estimator : estimator or None
        What members are made of: any classifier, or a regressor for "gentle" and "confidence". None is a decision
        stump, found by the engine: by far the fastest, and with categories and missing values as they are. Default
        None: the usual learner of this method, which takes any table without preparation.
    n_estimators : int
        Rounds, at most. Default 50: scikit-learn's number, and enough for stumps on small tables.
    learning_rate : float
        The share of each vote that is taken. Default 1.0: the vote is the best step already.
    algorithm : {"samme", "confidence", "real", "gentle"}
        What members predict. "samme": a class, with a vote of half of ln((1 - e) / e) + ln(K - 1), where e is the
        weighted error; for two classes this is the first AdaBoost. "confidence": how sure they are of each class,
        with the vote that lowers the loss most. "real": log probabilities, which are votes already. "gentle": numbers
        fitted to the classes by least squares, which are bounded steps. Default "samme": the original algorithm,
        which asks of members nothing but classes.
    method : {"reweight", "resample"}
        Whether members see weights, or rows drawn by weight. Learners that take no weights always see drawn rows.
        Default "reweight": nothing is left to chance, and a weight of 2 is the row twice.
    on_weak : {"flip", "stop"}
        What to do with a member that is worse than chance: give it a negative vote, or end. Default "flip": a member
        that is worse than chance knows the opposite, and a vote below zero uses it.
    corrective : {"exponential", "margin"} or None
        Find all votes anew after each round, none below zero: those with the least exponential loss, or those with
        the largest soft margin (LPBoost). None: votes stay as they were, which overfits less. Default None: votes
        that stay as they were overfit less.
    nu : float or None
        With corrective="margin", the share of the weight that may lie inside the margin. None: 0.1. Default None: a
        tenth; it counts with `corrective="margin"` only.
    max_bins : int
        Bins of a numeric feature, for stumps. Default 255: codes of so many bins fit a byte, and more were not found
        to help; small tables have fewer.
    categorical_features : array, "auto" or None
        Columns that stumps take for nominal. "auto": text and categories; an array adds others; None refuses text.
        Default "auto": text and categories have no order that a threshold could use.
    unknown_category : {"missing", "error"}
        What stumps take a category for that fit did not see. Default "missing": new categories are common in new
        tables, and a prediction without them is better than none.
    class_weight : mapping, "balanced" or None
        Weights of the classes, times the weights of the rows. Default None: weights distort probabilities; for
        decisions about rare classes tune a threshold first.
    warm_start : bool
        Continue from the last fit to the same rows with more rounds; the result is that of one longer fit. Default
        False: a fit forgets the last one, as in scikit-learn.
    random_state : int, RandomState, Generator or None
        The seed of what is drawn, and of members that draw. Default None: a new seed for each fit, as in
        scikit-learn; a number makes it repeatable.
    n_jobs : int or None
        Threads that find stumps, and in which members predict. None: every core that the process may use, or
        `COTERIE_NUM_THREADS`. The model is the same for any number. Default None: every core, because the model is
        the same for any number.
    checkpoint : str, path, Checkpoint or None
        A folder to keep members in while others are fitted, so that `fit(resume=True)` goes on if the fit is
        interrupted. Default None: most fits are short, and nothing should be written without being told to.

    Attributes
    ----------
    estimators_ : list of the members; with regressors and more than two classes, of a list with one for each class
    estimator_weights_ : array, the votes; negative ones count for the other class
    estimator_errors_ : array, the weighted error of each member
    edges_ : array, by how much each is better than chance: 1/2 - e, or 1 - 1/K - e
    normalizers_ : array, what the exponential loss is multiplied by in each round
    exponential_loss_ : array, the loss after each round, the product of the normalisers so far
    train_errors_ : array, the share of the weight of the training rows that is wrong after each round
    validation_errors_ : array, the same for an eval set
    vote_history_ : array of shape (n_estimators_, n_estimators_)
        With `corrective`, all votes after each round.
    row_weights_ : array, the weights of the training rows after the last round; they sum to one
    stopped_because_ : str
    method_ : {"reweight", "resample"}, what members saw
    n_estimators_ : int, the number of members
    classes_ : array of labels
    n_classes_, n_features_in_ : int
    feature_names_in_ : array of str, if the columns had names
    feature_importances_ : array, the mean of those of the members, by vote
    schema_ : Schema, names and kinds of the columns that fit saw
    encoder_ : Encoder, the levels of categories, and the code of each

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> y = np.where((X[:, 0] > 3) & (X[:, 0] < 8), "inside", "outside")
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.estimators_
    [Stump(always outside), Stump(x0 <= 3.5: outside, else inside), Stump(x0 <= 7.5: inside, else outside)]
    >>> model.train_errors_
    array([0.33333333, 0.33333333, 0.        ])
    >>> model.predict([[5.0], [9.0]])
    array(['inside', 'outside'], dtype='<U7')

    References
    ----------
    Freund and Schapire (1997); Schapire and Singer (1999) for "confidence"; Friedman, Hastie and Tibshirani (2000) for
    "real" and "gentle"; Zhu, Zou, Rosset and Hastie (2009) for several classes.
    """

    PARAMS: ClassVar[Params] = ADABOOST_PARAMS
    FITTED: ClassVar[Fitted] = ADABOOST_CLASSIFIER_FITTED

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        algorithm: Literal["samme", "confidence", "real", "gentle"] = "samme",
        method: RowsOrWeights = "reweight",
        on_weak: Literal["flip", "stop"] = "flip",
        corrective: Literal["exponential", "margin"] | None = None,
        nu: float | None = None,
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self._store(locals())

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, eval_set: Any = None, resume: bool = False
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix, dict of columns, or `coterie.scan(...)`
            Learners other than stumps are given it as it is. A scan is for stumps, and
            names the columns of y and weights.
        y : labels of any type, of shape (n_rows,)
        sample_weight : array of shape (n_rows,), default=None
            How often each row counts: 2 is the row twice, 0 is no row.
        eval_set : tuple (X, y) or (X, y, weight), default=None
            Rows to measure on after each round: `validation_errors_`.
        resume : bool, default=False
            Go on from `checkpoint`, or begin anew if there is nothing yet.
        """
        with self._fitting(X, y, resume=resume) as run:
            train = self._prepare(X, y, sample_weight)
            signature = signature_of(self, train, run.seed, has_eval_set=eval_set is not None)
            settings = AdaBoostSettings(self)
            log = (
                RoundLog() if run.previous is None else self._continued_log(run.previous, signature, settings)
            )
            own_eval_set = read_eval_set(
                eval_set,
                self,
                train,
                needs_offset=False,
                encode=prepare_prediction if self._by_stumps else checked_rows,
            )
            checkpoint = run.open_checkpoint(
                lambda: data_fingerprint(train, eval_set=own_eval_set), learner=self.estimator
            )
            if checkpoint is not None:
                log = self._kept_log(checkpoint, has_eval_set=own_eval_set is not None)
            run.begin_steps(int(self.n_estimators))
            self.row_weights_: FloatArray = self._boost(run, X, train, log, own_eval_set)
            self._conclude(log, has_eval_set=own_eval_set is not None)
            self._trace, self._settings = replace(signature, seed=run.seed), settings
        return self

    def row_weights_by_round(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[FloatArray, RowArray | None]:
        """The weights of the training rows before each round, and how often each row was drawn.

        They are computed on request, from the training table and the members as they are: a fitted model does not grow
        by a number for each row and round.

        Parameters
        ----------
        X, y, sample_weight : what `fit` was given

        Returns
        -------
        weights : array of shape (n_estimators_ + 1, n_rows)
            What each member was fitted with; they sum to one. The last are those after the last round.
        draws : array of ints of shape (n_estimators_, n_rows), or None
            How often each member drew each row, with method_ "resample".

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 0]
        >>> AdaBoostClassifier(n_estimators=2).fit(X, y).row_weights_by_round(X, y)[0].round(3)
        array([[0.25 , 0.25 , 0.25 , 0.25 ],
               [0.167, 0.5  , 0.167, 0.167],
               [0.5  , 0.3  , 0.1  , 0.1  ]])
        """
        check_is_fitted(self, "estimators_")
        twin = copy(self)
        train = twin._prepare(X, y, sample_weight)
        is_same = np.array_equal(twin.classes_, self.classes_) and train.n_rows == len(self.row_weights_)
        if is_same and self.n_classes_ == 1:
            return self.row_weights_[None], None
        found = None
        if is_same:
            seed = int(self._trace.seed)
            rounds, rows = rounds_for(twin, X, train, seed, twin._n_threads())
            found = weights_by_round(twin, rounds, rows, train.n_rows, self._log, seed)
        if found is None or not np.allclose(found[0][-1], self.row_weights_, atol=1e-9):
            raise InvalidInput.expecting(
                "X, y or sample_weight are not those of fit: the rows do not have the weights that it ended with",
                "the training table, in the same order",
                "X",
                X,
            )
        return found

    def _check_parameters(self) -> None:
        check_together(self)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        """Read and check what was given; stumps see features, other learners the table as it is."""
        self._algorithm, self._by_stumps = str(self.algorithm), self.estimator is None
        self.method_ = method_of(self)
        if self._by_stumps and isinstance(X, Scan):
            train = prepare_whole_scan(self, X, task="classification", y=y, sample_weight=sample_weight)
        elif self._by_stumps:
            train = prepare_training(self, X, y, sample_weight, task="classification")
        else:
            train = prepare_rows(self, X, y, sample_weight)
        self.classes_: AnyArray = np.asarray(train.target.classes)
        self.n_classes_ = len(self.classes_)
        return train

    def _boost(
        self, run: FitRun, X: Any, train: TrainingData, log: RoundLog, eval_set: EvalSet | None
    ) -> FloatArray:
        """Take the rounds, which the log remembers; returns the weights of the rows after the last of them."""
        row_weights = np.zeros(train.n_rows)
        if self.n_classes_ == 1:
            log.ended = "y has one class only"
            return row_weights + 1 / len(row_weights)
        eval_errors = None
        if eval_set is not None:
            eval_errors = EvalErrorTracker(
                eval_set, self._shares_on(eval_set.X, eval_set.encoded), self.n_classes_
            )
        rounds, rows = rounds_for(self, X, train, run.seed, run.n_threads)
        kept = None
        if run.checkpoint is not None:
            lists = self._lists_of(log, has_eval_set=eval_set is not None)
            kept = CheckpointedLists(run.checkpoint, lists, len(log.members))
        with (
            nullcontext()
            if kept is None or run.checkpoint is None
            else run.checkpoint.recording(kept.collect)
        ):
            boost(self, rounds, log, run.seed, eval_errors, self._on_round(run), kept)
        row_weights[rows] = rounds.row_weights()
        return row_weights

    def _on_round(self, run: FitRun) -> Callable[[RoundLog], bool]:
        if not run.is_watched:
            return lambda _: False
        return lambda log: run.emit("round", len(log.members), fitted=lambda: self._learned(log))

    def _previous_fit(self) -> PreviousFit[AdaBoostState] | None:
        if not hasattr(self, "_trace"):
            return None
        return PreviousFit(self._trace, self.schema_, self.classes_, AdaBoostState(self._log, self._settings))

    def _lists_of(self, log: RoundLog, *, has_eval_set: bool) -> dict[str, list[Any]]:
        return log.lists(has_votes=self.corrective is None, has_eval_set=has_eval_set)

    def _kept_log(self, checkpoint: CheckpointWriter, *, has_eval_set: bool) -> RoundLog:
        """What the parts of a checkpoint know; stumps have our classes and encoder again, and no copies of them."""
        log = RoundLog()
        for name, held in lists_in_checkpoint(
            checkpoint, *self._lists_of(log, has_eval_set=has_eval_set)
        ).items():
            setattr(log, name, held)
        for place, votes in enumerate(log.vote_rows, start=1):
            if not isinstance(votes, np.ndarray) or votes.dtype != np.float64 or votes.shape != (place,):
                raise ModelFileError("The checkpoint holds votes of other members than its own.")
            log.votes = votes.tolist()
        check_numbers(
            log.votes, log.errors, log.normalizers, log.losses, log.train_errors, log.validation_errors
        )
        for member in log.members if self._by_stumps else []:
            if not self._is_stump_of_mine(member):
                raise ModelFileError("The checkpoint holds members that are no stumps of this table.")
            member.classes_, member.schema_, member.encoder_ = self.classes_, self.schema_, self.encoder_
        return log

    def _is_stump_of_mine(self, member: Any) -> bool:
        if not isinstance(member, Stump) or member.proba.shape != (2, self.n_classes_):
            return False
        if not -1 <= member.feature < self.n_features_in_:
            return False
        n_levels = self.encoder_.n_levels[member.feature] if member.feature >= 0 else 0
        return len(() if member.right_codes is None else member.right_codes) == n_levels

    def _continued_log(
        self, previous: PreviousFit[AdaBoostState], signature: FitSignature, settings: AdaBoostSettings
    ) -> RoundLog:
        """The rounds of the last fit, if this one continues it."""
        n_known = len(previous.state.log.members)
        check_no_fewer(self.n_estimators, n_known, "members")
        settings.check_same(previous.state.settings)
        check_continues(previous, signature, schema=self.schema_, classes=self.classes_, hint=BEGIN_ANEW)
        return previous.state.log.copied()

    def _conclude(self, log: RoundLog, *, has_eval_set: bool) -> None:
        """Set the fitted attributes."""
        for name, value in self._learned(log).items():
            setattr(self, name, value)
        self.estimator_errors_ = np.array(log.errors)
        chance = 1 - 1 / self.n_classes_
        self.edges_: FloatArray = chance - self.estimator_errors_
        self.normalizers_ = np.array(log.normalizers)
        self.exponential_loss_ = np.array(log.losses)
        self.train_errors_ = np.array(log.train_errors)
        if has_eval_set:
            self.validation_errors_ = np.array(log.validation_errors)
        if self.corrective is not None:
            self.vote_history_ = np.zeros((len(log.members), len(log.members)))
            for number, votes in enumerate(log.vote_rows):
                self.vote_history_[number, : len(votes)] = votes
        done = f"all {self.n_estimators} rounds are done"
        stopped = "a callback asked to stop"
        fallback = done if len(log.members) == self.n_estimators else stopped
        self.stopped_because_ = log.ended or fallback
        self._log = log

    def _learned(self, log: RoundLog) -> dict[str, Any]:
        """What predictions need to know."""
        table = None
        if self._by_stumps and log.members:
            steps = [
                vote * scores_of_shares(stump_shares(stump, self._algorithm))
                for stump, vote in zip(log.members, log.votes, strict=True)
            ]
            table = table_of(log.members, steps, self.encoder_.n_levels)
        return {
            "estimators_": list(log.members),
            "estimator_weights_": np.array(log.votes),
            "n_estimators_": len(log.members),
            "_table": table,
        }
