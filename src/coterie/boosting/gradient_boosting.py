"""Gradient boosting: each tree takes a small Newton step down the loss, from where the trees before it left off."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from coterie._documentation import documented
from coterie._params import ArrayLike, MappingLike, OneOf, Params, Real
from coterie._storage import Fitted, storable_estimator
from coterie._typing import (
    AnyArray,
    Auto,
    BoolArray,
    CategoricalFeatures,
    ClassWeight,
    Effort,
    FloatArray,
    Growth,
    Holdout,
    InteractionConstraints,
    MultiStrategy,
    MultiTargetStrategy,
    SamplingMethod,
    TargetStatistics,
    UnknownCategory,
)
from coterie.boosting._base import BOOSTING_PARAMS, BaseGradientBoosting
from coterie.boosting._fitted import BOOSTING_CLASSIFIER_FITTED, BOOSTING_REGRESSOR_FITTED, verify_boosting
from coterie.boosting._init_estimator import class_scores, label_scores, number_scores
from coterie.boosting._labels import check_labels, labels_of_codes, outputs_of_labels
from coterie.boosting._parameter_docs import boosting_texts
from coterie.boosting._prediction import held_out_rows
from coterie.boosting._votes import boosting_votes
from coterie.data.prepare import TrainingData
from coterie.data.streaming.prediction import by_batches
from coterie.errors import InvalidInput, InvalidParameter
from coterie.explain.tree_models import class_outputs
from coterie.fitting.scoring import ResponseFunctions
from coterie.losses import (
    Loss,
    LossFor,
    RegressionLoss,
    loss_for_classes,
    loss_for_numbers,
)
from coterie.losses.quantile import Quantile
from coterie.losses.several import LossOfEach
from coterie.losses.single_class import SingleClass
from coterie.members.intervals import interval_of_residuals
from coterie.members.prediction_sets import SetMethod, check_alpha, prediction_sets, set_threshold
from coterie.members.votes import Votes


@storable_estimator(verify=verify_boosting)
@documented(
    boosting_texts(
        own="""\
    loss : str or Loss
        What is minimised, and so what is predicted: the mean for "squared_error", the default of nearly everyone.
        Default "squared_error": it estimates the mean, or probabilities, and is the least noisy to optimise.
    quantile : float, sequence of floats or None
        The level or levels of loss="quantile"; of several targets one level. Default None: it counts with
        `loss="quantile"` only, where it must be given.
    multi_strategy : {"auto", "one_tree_per_target", "shared_trees"}
        Of several targets: a round grows a tree for each, or one tree for all of them, in whose leaves each target has
        its own value. "auto" is "one_tree_per_target", except for squared error with a number of rounds, where
        targets share trees. Default "auto": a tree for each has the lower loss in the recipe.
""",
        oof="oof_prediction_",
    )
)
class GradientBoostingRegressor(RegressorMixin, BaseGradientBoosting):
    """Gradient boosting for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, X[:, 0] > 49)
    >>> model.predict([[10.0], [90.0]]).round(2)
    array([0., 1.])
    """

    _task = "regression"
    FITTED: ClassVar[Fitted] = BOOSTING_REGRESSOR_FITTED
    PARAMS: ClassVar[Params] = {
        "loss": [LossFor("regression")],
        "quantile": [Real(0, 1, closed="neither"), ArrayLike(), None],
        **BOOSTING_PARAMS,
        "multi_strategy": [OneOf("auto", "one_tree_per_target", "shared_trees")],
    }

    def __init__(
        self,
        *,
        loss: str | Loss = "squared_error",
        quantile: Any = None,
        n_estimators: int | Auto = "auto",
        effort: Effort = "default",
        learning_rate: float | Auto = "auto",
        n_folds: int | Auto = "auto",
        growth: Growth = "auto",
        max_leaf_nodes: int | Auto | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int | Auto = "auto",
        min_child_weight: float = 1e-3,
        l2_regularization: float | Auto = "auto",
        l1_regularization: float = 0.0,
        min_gain_to_split: float = 0.0,
        leaf_penalty: float = 0.0,
        max_step: float | None = None,
        path_smoothing: float = 0.0,
        split_noise: float = 0.0,
        linear_leaves: bool | Auto = "auto",
        linear_l2: float = 0.01,
        max_features: float | Auto = "auto",
        max_features_per_level: float = 1.0,
        max_features_per_tree: float = 1.0,
        subsample: float | Auto = "auto",
        sampling_method: SamplingMethod = "auto",
        dropout_rate: float = 0.0,
        dropout_skip: float = 0.5,
        max_bins: int = 255,
        monotonic_cst: Any = None,
        interaction_cst: InteractionConstraints = None,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
        target_statistics: TargetStatistics = "auto",
        init: Any = None,
        multi_strategy: MultiTargetStrategy = "auto",
        early_stopping: bool | Auto = "auto",
        holdout: Holdout = "random",
        validation_fraction: float = 0.1,
        scoring: Any = None,
        n_iter_no_change: int | Auto = "auto",
        tol: float = 1e-7,
        refit: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: Any = None,
    ) -> None:
        self._store(locals())

    @by_batches
    def predict(self, X: Any, *, offset: Any = None, n_rounds: int | None = None) -> FloatArray:
        """The predicted number of each row; of several targets or quantiles, which ascend, a column for each.

        `n_rounds`: use only the trees of the first rounds.
        """
        scores = self._raw_scores(X, offset, n_rounds)
        predicted: FloatArray = self._loss().predictions(scores)
        return predicted

    def staged_predict(self, X: Any, *, offset: Any = None) -> Iterator[FloatArray]:
        """The result of `predict` after each round."""
        scores = self._staged_scores(X, offset)
        return map(self._loss().predictions, scores)

    def predict_interval(self, X: Any, alpha: float = 0.1, *, offset: Any = None) -> FloatArray:
        """Where the target will be, all but a share `alpha` of the time: conformal, from out-of-fold predictions.

        Parameters
        ----------
        X : a table with the columns of `fit`
        alpha : float in (0, 1), how often the interval may miss
        offset : as in `predict`

        Returns
        -------
        array of shape (n_rows, 2), the lower and the upper end; infinite if there are too few rows for this alpha

        Notes
        -----
        The fit must have held rows out: by `n_folds`, as it does by default. Residuals of rows held out are divided by
        a scale, which follows the residuals of rows with similar predictions, and multiplied by that of the
        new row. Ends stay within the range of a target without negative values. At most 10,000 rows calibrate.

        References
        ----------
        Lei and others, Distribution-free predictive inference for regression (2018), for scaled residuals.
        """
        check_alpha(alpha)
        rows = held_out_rows(self, "predict_interval")
        if self.oof_prediction_.ndim > 1:
            raise InvalidInput(
                f"predict_interval is about one prediction a row, and this model has {self.oof_prediction_.shape[1]}.",
                parameter="quantile" if self.quantile is not None else "y",
                hint="Quantiles are intervals themselves; of several targets fit a model of each.",
            )
        predicted = self.predict(X, offset=offset)
        return interval_of_residuals(predicted, self.oof_prediction_, rows, alpha)

    def _response_functions(self) -> ResponseFunctions:
        return {"predict": self._loss().predictions}

    def _set_target(self, train: TrainingData) -> None:
        self.n_outputs_ = train.target.n_outputs

    def _decoded(self, target: AnyArray) -> AnyArray:
        return target

    def _set_held_out(self, scores: FloatArray) -> None:
        self.oof_prediction_: FloatArray = self._loss().predictions(scores)

    def _explained_outputs(self) -> tuple[tuple[Any, ...], str]:
        n_outputs = self.forest_.n_outputs
        outputs = (None,) if n_outputs == 1 else tuple(f"output {place}" for place in range(n_outputs))
        scores = np.arange(3.0).repeat(n_outputs).reshape(3, n_outputs)
        is_prediction = np.array_equal(self._loss().predictions(scores).reshape(3, -1), scores)
        return outputs, "prediction" if is_prediction else "raw prediction"

    def _n_outputs(self) -> int:
        n_outputs: int = self._loss().n_outputs
        return n_outputs

    def _init_scores(self, model: Any, X: Any, n_rows: int) -> FloatArray:
        return number_scores(model, X, n_rows, loss=self._loss())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._takes_several_targets
        return tags

    def _loss(self) -> Any:
        loss = loss_for_numbers(self._loss_of_one())
        return loss if self.n_outputs_ == 1 else LossOfEach((loss,) * self.n_outputs_)

    def _joint_loss(self, n_targets: int) -> RegressionLoss | None:
        return None if n_targets == 1 else loss_for_numbers(self._loss_of_one()).joint(n_targets)

    def _loss_of_one(self) -> str | Loss:
        if self.quantile is None:
            chosen: str | Loss = self.loss
            return chosen
        if not isinstance(self.loss, str) or self.loss != "quantile":
            raise InvalidParameter(
                f"quantile={self.quantile!r} has no meaning with loss={self.loss!r}. Leave it at None, or set "
                "loss='quantile'."
            )
        level = self.quantile
        return Quantile(float(level) if np.ndim(level) == 0 else tuple(float(each) for each in level))


def _is_of_one_target(model: Any) -> bool:
    """Whether a classifier has a decision function: of several labels scikit-learn expects it beside a matrix only."""
    return not isinstance(getattr(model, "classes_", None), list)


@storable_estimator(verify=verify_boosting)
@documented(
    boosting_texts(
        own="""\
    loss : str or Loss
        What is minimised. Default "log_loss": its scores are probabilities that can be believed.
    class_weight : mapping, "balanced", list of them or None
        Weights of the classes, times the weights of the rows; of several labels one for each, whose product counts.
        Default None: weights distort probabilities; for
        decisions about rare classes tune a threshold first.
    multi_strategy : {"auto", "one_tree_per_class", "shared_trees"}
        Of three or more classes, or several labels: a round grows a tree for each, or one tree for all of them, in
        whose leaves each has its own value. "auto" is "shared_trees" in the recipe, and "one_tree_per_class" with a
        number of rounds. Default "auto": where trees are shared the loss of classes is lower, and many classes or
        labels take less time.
""",
        oof="oof_proba_",
    )
)
class GradientBoostingClassifier(ClassifierMixin, BaseGradientBoosting):
    """Gradient boosting for classes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 49, "high", "low")
    >>> model = GradientBoostingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> model.predict([[10.0], [90.0]])
    array(['low', 'high'], dtype='<U4')
    """

    _task = "classification"
    FITTED: ClassVar[Fitted] = BOOSTING_CLASSIFIER_FITTED
    PARAMS: ClassVar[Params] = {
        "loss": [LossFor("binary")],
        **BOOSTING_PARAMS,
        "multi_strategy": [OneOf("auto", "one_tree_per_class", "shared_trees")],
        "class_weight": [MappingLike(), OneOf("balanced"), ArrayLike(), None],
    }

    def __init__(
        self,
        *,
        loss: str | Loss = "log_loss",
        n_estimators: int | Auto = "auto",
        effort: Effort = "default",
        learning_rate: float | Auto = "auto",
        n_folds: int | Auto = "auto",
        growth: Growth = "auto",
        max_leaf_nodes: int | Auto | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int | Auto = "auto",
        min_child_weight: float = 1e-3,
        l2_regularization: float | Auto = "auto",
        l1_regularization: float = 0.0,
        min_gain_to_split: float = 0.0,
        leaf_penalty: float = 0.0,
        max_step: float | None = None,
        path_smoothing: float = 0.0,
        split_noise: float = 0.0,
        linear_leaves: bool | Auto = "auto",
        linear_l2: float = 0.01,
        max_features: float | Auto = "auto",
        max_features_per_level: float = 1.0,
        max_features_per_tree: float = 1.0,
        subsample: float | Auto = "auto",
        sampling_method: SamplingMethod = "auto",
        dropout_rate: float = 0.0,
        dropout_skip: float = 0.5,
        max_bins: int = 255,
        monotonic_cst: Any = None,
        interaction_cst: InteractionConstraints = None,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
        target_statistics: TargetStatistics = "auto",
        init: Any = None,
        class_weight: ClassWeight = None,
        multi_strategy: MultiStrategy = "auto",
        early_stopping: bool | Auto = "auto",
        holdout: Holdout = "random",
        validation_fraction: float = 0.1,
        scoring: Any = None,
        n_iter_no_change: int | Auto = "auto",
        tol: float = 1e-7,
        refit: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: Any = None,
    ) -> None:
        self._store(locals())

    @available_if(_is_of_one_target)  # type: ignore[untyped-decorator]
    @by_batches
    def decision_function(self, X: Any, *, offset: Any = None, n_rounds: int | None = None) -> FloatArray:
        """Scores before the link: for log loss the log odds of the second class, or one score per class.

        `n_rounds`: use only the trees of the first rounds. Several labels have probabilities only, as in forests.
        """
        return self._margins(self._raw_scores(X, offset, n_rounds))

    @by_batches
    def predict_proba(
        self, X: Any, *, offset: Any = None, n_rounds: int | None = None
    ) -> FloatArray | list[FloatArray]:
        """The probability of each class, in the order of `classes_`; of several labels a list, as forests have it.

        `n_rounds`: use only the first rounds.
        """
        return self._probabilities(self._raw_scores(X, offset, n_rounds))

    @by_batches
    def predict_log_proba(self, X: Any, *, offset: Any = None) -> FloatArray | list[FloatArray]:
        """The logarithm of `predict_proba`."""
        shares = self.predict_proba(X, offset=offset)
        with np.errstate(divide="ignore"):
            return [np.log(own) for own in shares] if isinstance(shares, list) else np.log(shares)

    @by_batches
    def predict(self, X: Any, *, offset: Any = None, n_rounds: int | None = None) -> AnyArray:
        """The most probable class of each row; on a tie, the first of them. `n_rounds`: of the first rounds only."""
        return self._labels(self._raw_scores(X, offset, n_rounds))

    @available_if(_is_of_one_target)  # type: ignore[untyped-decorator]
    def staged_decision_function(self, X: Any, *, offset: Any = None) -> Iterator[FloatArray]:
        """The result of `decision_function` after each round."""
        return map(self._margins, self._staged_scores(X, offset))

    def staged_predict_proba(self, X: Any, *, offset: Any = None) -> Iterator[FloatArray | list[FloatArray]]:
        """The result of `predict_proba` after each round."""
        return map(self._probabilities, self._staged_scores(X, offset))

    def staged_predict(self, X: Any, *, offset: Any = None) -> Iterator[AnyArray]:
        """The result of `predict` after each round."""
        return map(self._labels, self._staged_scores(X, offset))

    def predict_set(
        self, X: Any, alpha: float = 0.1, *, method: SetMethod = "adaptive", offset: Any = None
    ) -> BoolArray:
        """Which classes each row may well have, so that the true one is missed a share `alpha` of the time.

        Parameters
        ----------
        X : a table with the columns of `fit`
        alpha : float in (0, 1)
        method : {"adaptive", "threshold"}
            Sets that are right about as often for easy rows as for hard ones, or sets that are small on average.
        offset : as in `predict`

        Returns
        -------
        bool array of shape (n_rows, n_classes), in the order of `classes_`; at least one class in each row

        Notes
        -----
        The fit must have held rows out: by `n_folds`, as it does by default. At most 10,000 of them calibrate.

        References
        ----------
        Romano, Sesia and Candes, Classification with valid and adaptive coverage (2020); Sadinle, Lei and Wasserman
        (2019) for "threshold".
        """
        check_alpha(alpha)
        self._refuse_several("predict_set")
        rows = held_out_rows(self, "predict_set")
        threshold = set_threshold(
            np.asarray(self.oof_proba_)[rows.rows], rows.truth, rows.weight, alpha, method
        )
        return prediction_sets(np.asarray(self.predict_proba(X, offset=offset)), threshold, method)

    def votes(self, X: Any, *, votes: str = "hard", oob: bool = False) -> Votes:
        """The scores as votes, of which margins are made: no row can have a larger sum. Only hard votes exist."""
        self._refuse_several("votes")
        return boosting_votes(self, X, self._start_of(X, None)[0], votes=votes, oob=oob)

    def _margins(self, scores: FloatArray) -> FloatArray:
        return scores[:, 0] if len(self.classes_) <= 2 else scores

    def _labels(self, scores: FloatArray) -> AnyArray:
        return self._decoded(self._loss().most_probable(scores))

    def _probabilities(self, scores: FloatArray) -> FloatArray | list[FloatArray]:
        found: FloatArray | list[FloatArray] = self._loss().probabilities(scores)
        return found

    def _explained_outputs(self) -> tuple[tuple[Any, ...], str]:
        if isinstance(self.classes_, list):
            return outputs_of_labels(
                self.classes_
            ), "log-odds" if self.loss == "log_loss" else "raw prediction"
        classes = class_outputs(self.classes_)
        if self.forest_.n_outputs > 1:
            return classes, "raw prediction"
        return classes[-1:], "log-odds" if self.loss == "log_loss" else "raw prediction"

    def _response_functions(self) -> ResponseFunctions:
        found: dict[str, Any] = {"predict": self._labels, "predict_proba": self._probabilities}
        return found | {"decision_function": self._margins} if _is_of_one_target(self) else found

    def _set_target(self, train: TrainingData) -> None:
        classes = train.target.classes
        assert classes is not None
        if isinstance(classes, list):
            check_labels(classes)
        self.classes_: AnyArray | list[AnyArray] = classes

    def _decoded(self, target: AnyArray) -> AnyArray:
        if isinstance(self.classes_, list):
            return labels_of_codes(self.classes_, target)
        return np.asarray(self.classes_[target])

    def _set_held_out(self, scores: FloatArray) -> None:
        self.oof_proba_: FloatArray | list[FloatArray] = self._probabilities(scores)

    def _loss(self) -> Any:
        if isinstance(self.classes_, list):
            return LossOfEach(tuple(_loss_of(self.loss, own) for own in self.classes_))
        return _loss_of(self.loss, self.classes_)

    def _n_outputs(self) -> int:
        n_outputs: int = self._loss().n_outputs
        return n_outputs

    def _init_scores(self, model: Any, X: Any, n_rows: int) -> FloatArray:
        if isinstance(self.classes_, list):
            return label_scores(model, X, n_rows, loss=self._loss(), classes=self.classes_)
        return class_scores(model, X, n_rows, loss=self._loss(), classes=self.classes_)

    def _refuse_several(self, what: str) -> None:
        if isinstance(getattr(self, "classes_", None), list):
            raise InvalidInput(
                f"{what} is about one target, and this model was fitted to {len(self.classes_)}.",
                parameter="y",
                received=len(self.classes_),
                allowed="one column",
                hint="Fit a model of each.",
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._takes_several_targets
        tags.target_tags.multi_output = self._takes_several_targets
        return tags


def _loss_of(loss: str | Loss, classes: AnyArray) -> Any:
    return SingleClass() if len(classes) == 1 else loss_for_classes(loss, len(classes))
