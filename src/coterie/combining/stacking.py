"""Stacking: a final estimator learns how to combine members from what they predict out of fold."""

from typing import Any, ClassVar

from sklearn.base import clone

from coterie._documentation import documented
from coterie._params import Integer, OneOf, Params
from coterie._storage import storable_estimator
from coterie._typing import SeedLike
from coterie.combining._leak_guard import folds_within
from coterie.combining._stacking_base import STACKING_PARAMS
from coterie.combining._stacking_targets import (
    STACK_OF_CLASSES_PARAMS,
    BaseStackingClassifier,
    BaseStackingRegressor,
    stacking_texts,
)
from coterie.errors import InvalidParameter
from coterie.members.named_members import GivenAtFit, MemberFitData, verify_members
from coterie.members.out_of_fold import Fold, Splitter, folds_of, splitter_of

_CV: Params = {"cv": [Integer(2), Splitter(), OneOf("prefit"), None]}


def _folds_by_cv(stack: Any, data: MemberFitData, given: GivenAtFit, _: int | None) -> list[Fold] | None:
    """The folds that `cv` makes; None for members that were fitted before."""
    if isinstance(stack.cv, str):
        if stack.members == "folds":
            raise InvalidParameter("members='folds' are models of folds, and cv='prefit' makes none.")
        return None
    splitter = splitter_of(stack.cv, data.labels, classifier=bool(data.classes))
    return folds_of(splitter, data.X, data.labels, data.n_rows, type(stack).__name__, **given.of_split)


def _trial_by_cv(stack: Any, folds: list[Fold]) -> Any:
    inner = folds_within(folds, 1 + max(max(fold.train.max(), fold.test.max()) for fold in folds))
    return clone(stack).set_params(cv=inner or None)


@storable_estimator(verify=verify_members)
@documented(stacking_texts)
class StackingClassifier(BaseStackingClassifier):
    """A stack of members under a final classifier.

    Members of any kind predict rows that they were not fitted to, and the final estimator learns from
    that how to combine them: whom to believe, and when. A member that knows its rows by heart is not believed for it.

    Examples
    --------
    >>> from coterie import RandomForestClassifier, StackingClassifier
    >>> from coterie.datasets import load_table
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import pandas as pd
    >>> X, y = load_table("wine")
    >>> model = StackingClassifier([("forest", RandomForestClassifier(random_state=0)), ("bayes", GaussianNB())])
    >>> model = model.fit(pd.DataFrame(X), y)
    >>> model.oof_score_ > 0.95
    True
    >>> model.predict(pd.DataFrame(X)[:2])
    array(['class_0', 'class_0'], dtype='<U7')

    References
    ----------
    Wolpert, Stacked generalization (1992).
    """

    PARAMS: ClassVar[Params] = {**STACK_OF_CLASSES_PARAMS, **_CV}

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        passthrough: Any = False,
        members: str = "refit",
        oof_score: bool = True,
        leak_guard: bool = False,
        on_error: str = "raise",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    _folds = _folds_by_cv
    _trial = _trial_by_cv


@storable_estimator(verify=verify_members)
@documented(stacking_texts)
class StackingRegressor(BaseStackingRegressor):
    """A stack of members under a final regressor.

    Members of any kind predict rows that they were not fitted to, and the final estimator learns from
    that how to combine them: whom to believe, and when. A member that knows its rows by heart is not believed for it.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import DecisionTreeRegressor, StackingRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = X[:, 0] + (X[:, 1] > 0)
    >>> members = [("linear", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=4))]
    >>> model = StackingRegressor(members).fit(X, y)
    >>> model.oof_score_ > max(model.member_scores_.values())
    True

    References
    ----------
    Wolpert, Stacked generalization (1992).
    """

    PARAMS: ClassVar[Params] = {**STACKING_PARAMS, **_CV}

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        passthrough: Any = False,
        members: str = "refit",
        oof_score: bool = True,
        leak_guard: bool = False,
        on_error: str = "raise",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    _folds = _folds_by_cv
    _trial = _trial_by_cv
