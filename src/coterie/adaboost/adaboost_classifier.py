"""AdaBoost: each member learns from the rows that those before it got wrong, and votes as well as it does."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.callback import with_callbacks

from coterie._params import Params, check_params, resolve_n_jobs
from coterie._seeds import root_seed
from coterie._storage import Fitted, storable_estimator
from coterie._typing import AnyArray, FloatArray
from coterie.adaboost._fitted import ADABOOST_CLASSIFIER_FITTED, verify_votes
from coterie.adaboost._learner_tables import checked_rows, prepare_rows
from coterie.adaboost._predictions import AnswersByVote
from coterie.adaboost._rounds import scores_of_shares
from coterie.adaboost._stumps import Stump, stump_shares, table_of
from coterie.adaboost._training import (
    ADABOOST_PARAMS,
    Examiner,
    Log,
    SettingsOf,
    boost,
    check_together,
    method_of,
    rounds_for,
)
from coterie.data.prepare import prepare_prediction, prepare_training
from coterie.errors import InvalidParameter, ModelFileError
from coterie.fitting.callbacks import RoundWatchers
from coterie.fitting.checkpoint_lists import KeptLists, check_numbers, kept_lists
from coterie.fitting.checkpoint_writer import Journal, check_resume, opened_journal
from coterie.fitting.eval_set import read_eval_set
from coterie.fitting.fingerprint import about_data, about_fit
from coterie.fitting.fitted_state import forget
from coterie.fitting.warm_start import check_same_data, left_as_it_was, trace_of

__all__ = ["AdaBoostClassifier"]

_BEGIN_ANEW = "To begin anew, set warm_start=False."


@storable_estimator(verify=verify_votes)
class AdaBoostClassifier(AnswersByVote):
    """AdaBoost for classes.

    Parameters
    ----------
    estimator : estimator or None
        What members are made of: any classifier, or a regressor for "gentle" and "confidence". None is a decision
        stump, found by the engine: by far the fastest, and with categories and missing values as they are.
    n_estimators : int
        Rounds, at most. 50 is scikit-learn's number.
    learning_rate : float
        The share of each vote that is taken. 1, because the vote is the best step already.
    algorithm : {"samme", "confidence", "real", "gentle"}
        What members say. "samme": a class, with a vote of half of ln((1 - e) / e) + ln(K - 1), where e is the weighted
        error; for two classes this is the first AdaBoost. "confidence": how sure they are of each class, with the vote
        that lowers the loss most. "real": log probabilities, which are votes already. "gentle": numbers fitted to the
        classes by least squares, which are bounded steps.
    method : {"reweight", "resample"}
        Whether members see weights, or rows drawn by weight. Learners that take no weights always see drawn rows.
    on_weak : {"flip", "stop"}
        What to do with a member that is worse than chance: give it a negative vote, or end.
    corrective : {"exponential", "margin"} or None
        Find all votes anew after each round, none below zero: those with the least exponential loss, or those with the
        largest soft margin (LPBoost). None: votes stay as they were, which overfits less.
    nu : float or None
        With corrective="margin", the share of the weight that may lie inside the margin. None: 0.1.
    max_bins : int
        Bins of a numeric feature, for stumps. 255, which fit a byte.
    categorical_features : array, "auto" or None
        Columns that stumps take for nominal. "auto": text and categories; an array adds others; None refuses text.
    unknown_category : {"missing", "error"}
        What stumps take a category for that fit did not see.
    class_weight : mapping, "balanced" or None
        Weights of the classes, times the weights of the rows.
    warm_start : bool
        Continue from the last fit to the same rows with more rounds; the result is that of one longer fit.
    random_state : int, RandomState, Generator or None
        The seed of what is drawn, and of members that draw.
    n_jobs : int or None
        Threads that find stumps, and in which members predict. None: every core that the process may use, or
        `COTERIE_NUM_THREADS`. The model is the same for any number.
    checkpoint : str, path, Checkpoint or None
        A folder to keep members in while others are fitted, so that `fit(resume=True)` goes on if the fit is
        interrupted.

    Attributes
    ----------
    estimators_ : list of the members; with regressors and more than two classes, of a list with one for each class
    estimator_weights_ : array, the votes; negative ones count for the other class
    estimator_errors_ : array, the weighted error of each member
    edges_ : array, by how much each is better than chance: 1/2 - e, or 1 - 1/K - e
    normalizers_ : array, what the exponential loss is multiplied by in each round
    exponential_loss_ : array, the loss after each round, the product of the normalizers so far
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
        algorithm: str = "samme",
        method: str = "reweight",
        on_weak: str = "flip",
        corrective: str | None = None,
        nu: float | None = None,
        max_bins: int = 255,
        categorical_features: Any = "auto",
        unknown_category: str = "missing",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.algorithm = algorithm
        self.method = method
        self.on_weak = on_weak
        self.corrective = corrective
        self.nu = nu
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unknown_category = unknown_category
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None, resume: bool = False
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or dict of columns
            Learners other than stumps are given it as it is.
        y : labels of any type, of shape (n_rows,)
        sample_weight : array of shape (n_rows,), default=None
            How often each row counts: 2 is the row twice, 0 is no row.
        eval_set : tuple (X, y) or (X, y, weight), default=None
            Rows to measure on after each round: `validation_errors_`.
        resume : bool, default=False
            Go on from `checkpoint`, or begin anew if there is nothing yet.
        """
        check_params(self)
        check_resume(self, resume)
        resolve_n_jobs(self.n_jobs)
        check_together(self)
        if self.warm_start and hasattr(self, "_trace"):
            with left_as_it_was(self) as before:
                return self._fit_from(before, X, y, sample_weight, eval_set)
        forget(self)
        return self._fit_from(None, X, y, sample_weight, eval_set, resume=resume)

    def _fit_from(
        self,
        before: dict[str, Any] | None,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_set: Any,
        *,
        resume: bool = False,
    ) -> Self:
        """Fit anew, or go on from what the estimator held before, or from a checkpoint."""
        if self.estimator is None:
            train = prepare_training(self, X, y, sample_weight, task="classification")
        else:
            train = prepare_rows(self, X, y, sample_weight)
        self.classes_: AnyArray = np.asarray(train.target.classes)
        self.n_classes_ = len(self.classes_)
        self.method_ = method_of(self)
        self._algorithm, self._by_stumps = str(self.algorithm), self.estimator is None
        seed = before["_trace"].seed if before else root_seed(self.random_state)
        trace, settings = trace_of(self, train, seed, has_eval_set=eval_set is not None), SettingsOf(self)
        log = Log()
        if before:
            self._check_continued(before, trace, settings)
            log = before["_log"].copied()
        examined = read_eval_set(
            eval_set,
            self,
            train,
            needs_offset=False,
            encode=prepare_prediction if self._by_stumps else checked_rows,
        )
        kept = None
        if self.checkpoint is not None:
            about = about_fit(self) | about_data(train, eval_set=examined)
            journal = opened_journal(self, about, seed, resume=resume, learner=self.estimator)
            seed = journal.seed
            log = self._kept_log(journal, has_examiner=examined is not None)
            kept = KeptLists(
                journal, self._lists_of(log, has_examiner=examined is not None), len(log.members)
            )
        watchers = RoundWatchers(self, X, y, max_rounds=int(self.n_estimators))
        row_weights = np.zeros(train.encoded.n_rows)
        if self.n_classes_ == 1:
            row_weights += 1 / len(row_weights)
            log.ended = "y has one class only"
        else:
            examiner = None
            if examined is not None:
                examiner = Examiner(examined, self._shares_on(examined.X, examined.encoded), self.n_classes_)
            rounds, rows = rounds_for(self, X, train, sample_weight, seed, self._threads())
            with nullcontext() if kept is None else journal.keeps(kept.collect):
                boost(self, rounds, log, seed, examiner, self._watch_with(watchers), kept)
            row_weights[rows] = rounds.row_weights()
        self.row_weights_: FloatArray = row_weights
        self._take(log, examined is not None)
        self._trace, self._settings = replace(trace, seed=seed), settings
        watchers.end()
        return self

    def _lists_of(self, log: Log, *, has_examiner: bool) -> dict[str, list[Any]]:
        return log.lists(has_votes=self.corrective is None, has_examiner=has_examiner)

    def _kept_log(self, journal: Journal, *, has_examiner: bool) -> Log:
        """What the parts of a journal know; stumps have our classes and encoder again, and no copies of them."""
        log = Log()
        for name, held in kept_lists(journal, *self._lists_of(log, has_examiner=has_examiner)).items():
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

    def _check_continued(self, before: dict[str, Any], trace: Any, settings: SettingsOf) -> None:
        if self.n_estimators < before["n_estimators_"]:
            raise InvalidParameter(
                f"n_estimators={self.n_estimators} is less than the {before['n_estimators_']} members of the last fit, "
                f"which warm_start=True continues. Choose more. {_BEGIN_ANEW}"
            )
        settings.check_same(before["_settings"])
        check_same_data(before["_trace"], trace, before, self, _BEGIN_ANEW)

    def _watch_with(self, watchers: RoundWatchers) -> Any:
        def watch(log: Log) -> bool:
            if not watchers.listening:
                return False
            watchers.begin_round()
            return watchers.end_round(**self._learned(log))

        return watch

    def _take(self, log: Log, examined: bool) -> None:
        for name, value in self._learned(log).items():
            setattr(self, name, value)
        self.estimator_errors_ = np.array(log.errors)
        chance = 1 - 1 / self.n_classes_
        self.edges_: FloatArray = chance - self.estimator_errors_
        self.normalizers_ = np.array(log.normalizers)
        self.exponential_loss_ = np.array(log.losses)
        self.train_errors_ = np.array(log.train_errors)
        if examined:
            self.validation_errors_ = np.array(log.validation_errors)
        if self.corrective is not None:
            self.vote_history_ = np.zeros((len(log.members), len(log.members)))
            for number, votes in enumerate(log.vote_rows):
                self.vote_history_[number, : len(votes)] = votes
        done = f"all {self.n_estimators} rounds are done"
        asked = "a callback asked to stop"
        fallback = done if len(log.members) == self.n_estimators else asked
        self.stopped_because_ = log.ended or fallback
        self._log = log

    def _learned(self, log: Log) -> dict[str, Any]:
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
