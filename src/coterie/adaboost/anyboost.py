"""AnyBoost: any learner, any loss, one step after the other down the slope of the loss."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from coterie._documentation import documented
from coterie._params import MappingLike, OneOf, Params, in_short
from coterie._storage import Fitted, storable_estimator
from coterie._typing import AnyArray, Auto, ClassWeight, FloatArray, SeedLike
from coterie.adaboost._anyboost_base import ANYBOOST_PARAMS, BaseAnyBoost
from coterie.adaboost._fitted import ANYBOOST_CLASSIFIER_FITTED
from coterie.data.prepare import TrainingData
from coterie.errors import InvalidParameter
from coterie.fitting.fitted_state import verify_columns
from coterie.losses import (
    ClassificationLoss,
    Loss,
    LossFor,
    RegressionLoss,
    loss_for_classes,
    loss_for_numbers,
)
from coterie.trees.growth_rules import unit_of

_SHARED = """\
    estimator : estimator or None
        What a member is a copy of: any model with `fit` and `predict`. A regressor is fitted to the negative slopes.
        A classifier is fitted to their signs, with their sizes as weights, and its predictions count as -1 and 1; it
        serves losses of one score. None: our DecisionTreeRegressor(max_depth=3), which takes any table. Default None:
        the usual learner of this method, which takes any table without preparation.
<loss>    n_estimators : int
        Rounds, unless something ends them before: `stopped_because_` says what. Default 100: scikit-learn's number for
        boosting with steps of 0.1.
    step : "line_search" or float
        How far to go along a member: to where the training loss is least, or always as far. A number near 0.1 is what
        the linear approximation behind the method requires. Default "line_search": the best step on the training
        loss, whatever the scale of the learner.
    learning_rate : float or "auto"
        The share of the step that is taken. "auto": 0.1 of a step that was searched for, which generalises better
        than all of it; and all of a step that is a number. Default "auto": small steps generalise better than whole
        ones where the step is searched for.
    init : {"constant", "zero"}
        Where scores start. The constant that fits best, because small steps from zero would take many rounds to reach
        the level of the target; "zero" is the algorithm to the letter, and AdaBoost. Default "constant": the best
        constant: steps from zero would first have to reach the level of the target.
    subsample : float
        Share of the rows that a member is fitted to, drawn anew in each round. 1: all of them. Default 1.0: all rows;
        drawing fewer helps only where the learner overfits.
<own>    early_stopping : bool or "auto"
        Whether rows left out, or an eval set, decide how many rounds are kept. "auto": if there is an eval set.
        Default "auto": rows are not set aside unless you say so.
    validation_fraction : float
        Share of the rows left out if there is no eval set. Default 0.1: enough to see the loss turn, and most rows
        are left to learn from.
    n_iter_no_change : int
        Rounds without progress before the fit ends. Default 10: enough to pass over bumps of the curve, and few
        rounds are wasted.
    tol : float
        Progress smaller than this is none. Default 1e-07: any progress above rounding counts.
    warm_start : bool
        Continue from the last fit with more rounds; `estimator`, `step`, `learning_rate` and `subsample` may change.
        Default False: a fit forgets the last one, as in scikit-learn.
    random_state : int, RandomState, Generator or None
        The seed of bags, of rows left out, and of members that have a `random_state`. Default None: a new seed for
        each fit, as in scikit-learn; a number makes it repeatable.
    n_jobs : int or None
        Threads of members that have such a parameter and leave it at None, as our trees do. Default None: members
        decide themselves, so that threads do not compete.
    checkpoint : str, path, Checkpoint or None
        A folder to keep members in while others are fitted, so that `fit(resume=True)` goes on if the fit is
        interrupted. Default None: most fits are short, and nothing should be written without being told to.

    Attributes
    ----------
<classes>    estimators_ : array of shape (n_estimators_, n_scores)
        The members: one in each round, or one for each <what> if there are more than two.
    estimator_weights_ : array of shape (n_estimators_,)
        Their steps, or votes; all members of a round share one.
    n_estimators_ : int
        Rounds that were kept.
    baseline_ : array
        The raw prediction that every row starts from.
    stopped_because_ : str
        Why there are no more rounds.
    inner_products_ : array
        Of each round: how fast the mean loss falls at the start of the step. If the fit ended because it does not
        fall, the number that showed it is the last.
    steps_, train_losses_, validation_losses_ : array
        Of each round: its step, and the mean loss after it. Rounds are among them that early stopping did not keep.
    feature_importances_ : array of shape (n_features_in_,)
        The mean over members that know theirs, each as much as it lowered the training loss.
    schema_ : Schema
        Names and kinds of the columns that fit saw.
    encoder_ : Encoder
        The levels of categories, and the code of each.
"""
_NUMBERS = {
    "loss": """    loss : str or Loss
        What is minimised: any name or loss of `coterie.losses`, or a CustomLoss. "squared_error": members are then
        fitted to residuals. The turn of "huber" is found once, from the distances to the median.
        Default "squared_error": it estimates the mean, and any regressor learns residuals.
""",
    "own": "",
    "what": "quantile",
    "classes": "",
}
_CLASSES = {
    "loss": """    loss : {"log_loss", "exponential"} or CustomLoss
        What is minimised; "exponential" and losses of your own are for two classes. Default "log_loss": its scores are
        probabilities that can be believed.
""",
    "own": """    class_weight : mapping, "balanced" or None
        Weights of the classes, times the weights of the rows. Default None: weights distort probabilities; for
        decisions about rare classes tune a threshold first.
""",
    "what": "class",
    "classes": "    classes_ : array of the labels\n",
}


def anyboost_texts(estimator: type) -> str:
    """Parameters and attributes of a class of AnyBoost."""
    text = _SHARED
    for name, words in (_CLASSES if issubclass(estimator, ClassifierMixin) else _NUMBERS).items():
        text = text.replace(f"<{name}>", words)
    return text


@storable_estimator(verify=verify_columns)
@documented(anyboost_texts)
class AnyBoostRegressor(RegressorMixin, BaseAnyBoost):
    """Functional gradient descent for numbers, with any loss and any learner.

    In each round a copy of the learner is fitted to the negative slopes of the loss at the scores so far, and the model
    takes a step along its predictions. It ends when that no longer leads down: when the inner product of slopes and
    predictions is not negative.

    Examples
    --------
    Absolute error, by straight lines through the signs of the residuals: the outlier does not pull.

    >>> import numpy as np
    >>> from coterie import AnyBoostRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(10.0).reshape(-1, 1)
    >>> y = 2 * X[:, 0]
    >>> y[9] = 1000
    >>> model = AnyBoostRegressor(LinearRegression(), loss="absolute_error", n_estimators=200).fit(X, y)
    >>> model.predict([[4.0], [5.0]]).round()
    array([ 8., 10.])

    References
    ----------
    Mason, Baxter, Bartlett and Frean, Boosting algorithms as gradient descent (2000); Friedman, Greedy function
    approximation: a gradient boosting machine (2001).
    """

    _task = "regression"
    PARAMS: ClassVar[Params] = {**ANYBOOST_PARAMS, "loss": [LossFor("regression")]}

    def __init__(
        self,
        estimator: Any = None,
        *,
        loss: str | Loss = "squared_error",
        n_estimators: int = 100,
        step: float | Literal["line_search"] = "line_search",
        learning_rate: float | Auto = "auto",
        init: Literal["constant", "zero"] = "constant",
        subsample: float = 1.0,
        early_stopping: bool | Auto = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        random_state: SeedLike = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any) -> FloatArray:
        """The predicted number of each row; with several quantiles, which ascend, a column for each."""
        return self._loss().predictions(self._raw_scores(X))

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """The result of `predict` after each round."""
        return map(self._loss().predictions, self._staged_scores(X))

    def _loss(self) -> RegressionLoss:
        return loss_for_numbers(self.loss)

    def _set_target(self, train: TrainingData) -> None:
        self._unit = unit_of(train.target.values) if self._loss().is_in_units_of_the_target else 1.0


@storable_estimator(verify=verify_columns)
@documented(anyboost_texts)
class AnyBoostClassifier(ClassifierMixin, BaseAnyBoost):
    """Functional gradient descent for classes, with any loss and any learner.

    In each round copies of the learner are fitted to the negative slopes of the loss at the scores so far, and the
    model takes a step along their predictions. It ends when that no longer leads down: when the inner product of slopes
    and predictions is not negative. Two classes have one score and a member in each round; K classes have K scores, K
    members and one step for all of them.

    Examples
    --------
    With stumps that vote, the exponential loss and all of each step it is AdaBoost: a vote is half the log odds of
    being right.

    >>> import numpy as np
    >>> from coterie import AnyBoostClassifier, DecisionTreeClassifier
    >>> X, y = np.arange(10.0).reshape(-1, 1), [0, 0, 1, 1, 1, 1, 1, 1, 1, 0]
    >>> stumps = DecisionTreeClassifier(max_depth=1)
    >>> model = AnyBoostClassifier(stumps, loss="exponential", init="zero", learning_rate=1.0, n_estimators=1)
    >>> model.fit(X, y).estimator_weights_
    array([1.09861229])
    >>> float(np.log((1 - 0.1) / 0.1) / 2)
    1.0986122886681098

    References
    ----------
    Mason, Baxter, Bartlett and Frean, Boosting algorithms as gradient descent (2000); Friedman, Greedy function
    approximation: a gradient boosting machine (2001).
    """

    _task = "classification"
    FITTED: ClassVar[Fitted] = ANYBOOST_CLASSIFIER_FITTED
    PARAMS: ClassVar[Params] = {
        **ANYBOOST_PARAMS,
        "loss": [LossFor("binary")],
        "class_weight": [MappingLike(), OneOf("balanced"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        loss: str | Loss = "log_loss",
        n_estimators: int = 100,
        step: float | Literal["line_search"] = "line_search",
        learning_rate: float | Auto = "auto",
        init: Literal["constant", "zero"] = "constant",
        subsample: float = 1.0,
        class_weight: ClassWeight = None,
        early_stopping: bool | Auto = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        random_state: SeedLike = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self._store(locals())

    def decision_function(self, X: Any) -> FloatArray:
        """Scores before the link: for log loss the log odds of the second class, or one score per class."""
        return self._margins(self._raw_scores(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, in the order of `classes_`."""
        return self._probabilities(self._raw_scores(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; on a tie, the first of them."""
        return self._labels(self._raw_scores(X))

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """The result of `decision_function` after each round."""
        return map(self._margins, self._staged_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """The result of `predict_proba` after each round."""
        return map(self._probabilities, self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """The result of `predict` after each round."""
        return map(self._labels, self._staged_scores(X))

    def _margins(self, scores: FloatArray) -> FloatArray:
        return scores[:, 0] if len(self.classes_) <= 2 else scores

    def _labels(self, scores: FloatArray) -> AnyArray:
        one = len(self.classes_) == 1
        chosen = np.zeros(len(scores), np.intp) if one else self._loss().most_probable(scores)
        return np.asarray(self.classes_[chosen])

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return np.ones((len(scores), 1)) if len(self.classes_) == 1 else self._loss().probabilities(scores)

    def _loss(self) -> ClassificationLoss:
        return loss_for_classes(self.loss, len(self.classes_))

    def _has_work(self) -> bool:
        return len(self.classes_) > 1

    def _set_target(self, train: TrainingData) -> None:
        self.classes_: AnyArray = np.asarray(train.target.classes)
        self._unit = 1.0
        if len(self.classes_) > 2 and self._serves_two_classes():
            wrong = "estimator" if LossFor("multiclass").accepts(self.loss) else "loss"
            raise InvalidParameter(
                f"Only binary classification is supported. y has {len(self.classes_)} classes, and "
                f"estimator={in_short(self._base_learner().model)} with loss={in_short(self.loss)} moves one score.",
                parameter=wrong,
                received=getattr(self, wrong),
                hint="Several classes need a regressor as the estimator, and loss='log_loss'.",
            )

    def _serves_two_classes(self) -> bool:
        return self._base_learner().is_classifier or not LossFor("multiclass").accepts(self.loss)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._serves_two_classes()
        return tags
