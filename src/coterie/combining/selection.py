"""Selection: the best mean of members from a library of candidates, found greedily on rows held out."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from coterie._documentation import documented
from coterie._storage import Fitted, storable_estimator
from coterie._typing import AnyArray, BoolArray, FloatArray, SeedLike, Task
from coterie._value_types import COUNT, LABELS
from coterie.combining._selection_base import SELECTION_FITTED, BaseSelection
from coterie.combining.greedy import LogLossOfMean, SelectionLoss, SquaredErrorOfMean
from coterie.data.target import Target
from coterie.fitting.scoring import ResponseFunctions
from coterie.members.fit_members import Member
from coterie.members.named_members import verify_members
from coterie.members.oof_score import Score, score_of_codes, score_of_numbers
from coterie.members.parameter_docs import MEMBER_WORDS, OOF_WORDS
from coterie.members.response import ResponseMethod, method_of

_PARAMETERS = """\
{estimators}    scoring : str, callable or None
        What the selection makes as great as it can: the name of a scikit-learn scorer, or a scorer. None: minus the
        {loss}.
    cv : int, splitter, list of (train, test), "prefit" or None
        How rows are held out, as in scikit-learn; None is 5 folds. "prefit": members were fitted before, and the choice
        is made on all rows given to `fit`, which they should not have seen.
    max_iter : int
        Additions at most. A member may be added again, which gives it more weight.
    n_start : int
        Begin with so many of the best members, each once: a mean of several is hard to fit to chance. 1 begins with
        the best.
    n_iter_no_change : int or None
        Stop after so many additions that gained no more than `tol`. None: make all of them. The additions up to the
        best score are kept.
    tol : float
    n_bags : int
        Select so many times, each from some of the candidates drawn at random, and average: a candidate that fits
        chance is not always there. 1: once, from all.
    max_candidates : int or float
        Candidates in each of several bags, a number or a share of all.
    members : {{"refit", "folds"}}
        Whether the chosen members are fitted once more, to all rows, or are the means of their models of the folds.
{on_error}{n_jobs}{random_state}{verbose}
    Attributes
    ----------
{classes}    candidates_ : list of str
        Names of the members to choose from, without those that failed.
    weights_ : array of shape (n_candidates,)
        How often each was added, as shares; 0 for those that were not chosen.
    selection_path_ : list of Bunch
        Each addition in its order: `bag`, `member`, `score` after it, and whether it was `kept`.
    n_iter_ : int
        Additions that were made, of the longest path if there are several.
    estimators_ : list of the chosen members, fitted
    named_estimators_ : Bunch of the same by name; "drop" for the others
    dropped_ : dict
        Why members failed, by name; empty unless on_error="drop".
{oof}        Each part of the rows is scored by a selection that was made without it.
    pruning_path_ : Bunch
        The order of the members and the loss after each, if `coterie.prune` chose from them.
"""


def _texts(estimator: type) -> str:
    of_classes = issubclass(estimator, ClassifierMixin)
    return _PARAMETERS.format(
        **MEMBER_WORDS,
        loss="log loss" if of_classes else "mean squared error",
        classes="    classes_ : array of the labels\n" if of_classes else "",
        oof=OOF_WORDS,
    )


@storable_estimator(verify=verify_members)
@documented(_texts)
class SelectionClassifier(ClassifierMixin, BaseSelection):
    """Selection of classifiers from a library.

    All candidates predict rows that they were not fitted to. Then the selection begins with the best of them
    and adds, again and again, the one that makes the mean of the probabilities better by most. How often a member was
    added is its weight, and most are never added.

    A member without probabilities has a vote.

    Examples
    --------
    >>> from coterie import DecisionTreeClassifier, RandomForestClassifier, SelectionClassifier
    >>> from coterie.datasets import load_table
    >>> import pandas as pd
    >>> X, y = load_table("wine")
    >>> library = [(f"tree{depth}", DecisionTreeClassifier(max_depth=depth)) for depth in (1, 2, 3)]
    >>> library.append(("forest", RandomForestClassifier(random_state=0)))
    >>> model = SelectionClassifier(library, random_state=0).fit(pd.DataFrame(X), y)
    >>> model.candidates_[model.weights_.argmax()], float(model.weights_.sum())
    ('forest', 1.0)

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes, Ensemble selection from libraries of models (2004).
    """

    FITTED: ClassVar[Fitted] = {**SELECTION_FITTED, "classes_": LABELS}
    _task: ClassVar[Task] = "classification"

    classes_: AnyArray

    def __init__(
        self,
        estimators: Any,
        *,
        scoring: Any = None,
        cv: Any = None,
        max_iter: int = 50,
        n_start: int = 1,
        n_iter_no_change: int | None = 10,
        tol: float = 0.0,
        n_bags: int = 1,
        max_candidates: float = 0.5,
        members: str = "refit",
        on_error: str = "raise",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; on a tie, the first of them."""
        return self._labels_of(self._means_of(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """The weighted mean of the members' probabilities, shape (n_rows, n_classes)."""
        return self._means_of(X)

    def _labels_of(self, means: FloatArray) -> AnyArray:
        return np.asarray(self.classes_[means.argmax(axis=1)])

    def _response_functions(self) -> ResponseFunctions:
        return {"predict": self._labels_of, "predict_proba": self._output}

    def _response(self, member: Member, target: Target) -> ResponseMethod:
        soft = hasattr(member.estimator, "predict_proba")
        method = method_of(member.name, member.estimator, "predict_proba" if soft else "predict")
        assert isinstance(target.classes, np.ndarray)
        return ResponseMethod(method, (target.classes,), is_vote=not soft)

    def _decoded(self, truth: AnyArray) -> AnyArray:
        return np.asarray(self.classes_[truth])

    def _default_loss(self, library: FloatArray, truth: AnyArray, weight: FloatArray) -> SelectionLoss:
        return LogLossOfMean(library, truth, weight)

    def _score(
        self, predicted: FloatArray, truth: AnyArray, weight: FloatArray | None, rows: BoolArray
    ) -> Score:
        return score_of_codes(truth, predicted.argmax(axis=1), weight, rows)

    def _output(self, predictions: FloatArray) -> FloatArray:
        return predictions

    def _has_outputs(self) -> bool:
        return False


@storable_estimator(verify=verify_members)
@documented(_texts)
class SelectionRegressor(RegressorMixin, BaseSelection):
    """Selection of regressors from a library.

    All candidates predict rows that they were not fitted to. Then the selection begins with the best of them
    and adds, again and again, the one that makes the mean of the predictions better by most. How often a member was
    added is its weight, and most are never added.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import DecisionTreeRegressor, SelectionRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = X[:, 0] + (X[:, 1] > 0) + 0.5 * rng.normal(size=300)
    >>> library = [("linear", LinearRegression())]
    >>> library += [(f"tree{depth}", DecisionTreeRegressor(max_depth=depth)) for depth in (1, 2, 4, 8)]
    >>> model = SelectionRegressor(library, random_state=0).fit(X, y)
    >>> [str(step.member) for step in model.selection_path_[:2]]
    ['linear', 'tree4']
    >>> model.oof_score_ > max(model.member_scores_.values())
    True

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes, Ensemble selection from libraries of models (2004).
    """

    FITTED: ClassVar[Fitted] = {**SELECTION_FITTED, "_n_outputs": COUNT}
    _task: ClassVar[Task] = "regression"

    def __init__(
        self,
        estimators: Any,
        *,
        scoring: Any = None,
        cv: Any = None,
        max_iter: int = 50,
        n_start: int = 1,
        n_iter_no_change: int | None = 10,
        tol: float = 0.0,
        n_bags: int = 1,
        max_candidates: float = 0.5,
        members: str = "refit",
        on_error: str = "raise",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any) -> FloatArray:
        """The weighted mean of what the chosen members predict."""
        return self._output(self._means_of(X))

    def _response_functions(self) -> ResponseFunctions:
        return {"predict": self._output}

    def _response(self, member: Member, target: Target) -> ResponseMethod:
        return ResponseMethod(method_of(member.name, member.estimator, "predict"))

    def _decoded(self, truth: AnyArray) -> AnyArray:
        return truth

    def _set_target(self, target: Target) -> None:
        self._n_outputs = target.n_outputs

    def _default_loss(self, library: FloatArray, truth: AnyArray, weight: FloatArray) -> SelectionLoss:
        return SquaredErrorOfMean(library, truth.reshape(len(truth), -1), weight)

    def _score(
        self, predicted: FloatArray, truth: AnyArray, weight: FloatArray | None, rows: BoolArray
    ) -> Score:
        return score_of_numbers(truth, self._output(predicted), weight, rows)

    def _output(self, predictions: FloatArray) -> FloatArray:
        return predictions[:, 0] if self._n_outputs == 1 else predictions
