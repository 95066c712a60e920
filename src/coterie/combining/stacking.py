"""Stacking: a final estimator learns how to combine members from what they predict out of fold.

Blending is stacking with one hold-out: members learn from most rows, the final estimator from the rest.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier

from coterie._documentation import documented
from coterie._params import ArrayLike, Integer, OneOf, Params, Real, in_short, root_seed
from coterie._storage import storable_estimator
from coterie._typing import Holdout, MembersKept, OnError, RowArray, SeedLike, StackMethod
from coterie.combining._final_estimator import folds_within
from coterie.combining._stacking_base import STACKING_PARAMS
from coterie.combining._stacking_targets import (
    STACK_OF_CLASSES_PARAMS,
    BaseStackingClassifier,
    BaseStackingRegressor,
    stacking_texts,
)
from coterie.data.groups import read_groups
from coterie.data.holdout import holdout_rows, last_rows
from coterie.errors import InvalidInput, InvalidParameter
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
        stack_method: StackMethod = "auto",
        passthrough: Any = False,
        members: MembersKept = "refit",
        oof_score: bool = True,
        leak_guard: bool = False,
        on_error: OnError = "raise",
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
        members: MembersKept = "refit",
        oof_score: bool = True,
        leak_guard: bool = False,
        on_error: OnError = "raise",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    _folds = _folds_by_cv
    _trial = _trial_by_cv


_HOLDOUT: Params = {
    "cv": [Real(0, 1, closed="neither"), ArrayLike(), Splitter()],
    "order": [OneOf("random", "last_rows")],
}


def _folds_of_blend(blend: Any, data: MemberFitData, given: GivenAtFit, seed: int | None) -> list[Fold]:
    """The rows to learn from and those held out: drawn, listed, or divided by a splitter."""
    n_rows = data.n_rows
    if isinstance(blend.cv, float | np.floating):
        return [_drawn(blend, data, seed)]
    if blend.order != "random":
        raise InvalidParameter(
            f"order={blend.order!r} goes with a share of rows to hold out, not with cv={in_short(blend.cv)}."
        )
    if Splitter().accepts(blend.cv):
        splitter = splitter_of(blend.cv, data.labels, classifier=is_classifier(blend))
        return folds_of(splitter, data.X, data.labels, n_rows, type(blend).__name__, **given.of_split)
    return [_listed(blend, n_rows)]


def _drawn(blend: Any, data: MemberFitData, seed: int | None) -> Fold:
    n_rows, share = data.n_rows, float(blend.cv)
    if n_rows < 2:
        raise InvalidInput(f"Cannot hold rows out of a table of n_samples={n_rows}: at least 2 are needed.")
    groups = None if data.groups is None else read_groups(data.groups, n_rows)
    if blend.order == "random":
        one_label = is_classifier(blend) and data.target.n_outputs == 1
        codes = data.target.values if one_label else None
        return Fold(*holdout_rows(n_rows, share, root_seed(None) if seed is None else seed, codes, groups))
    if groups is not None:
        raise InvalidInput(
            "groups cannot be kept together by order='last_rows', which cuts the table at one row. Leave groups out, "
            "or choose order='random'."
        )
    return Fold(*last_rows(n_rows, share))


def _listed(blend: Any, n_rows: int) -> Fold:
    """Rows that the user chose: their numbers, or a mask."""
    rows = np.asarray(blend.cv)
    if rows.dtype.kind == "b" and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    is_list = rows.ndim == 1 and rows.dtype.kind in "iu" and len(rows) > 0
    if not is_list or rows.min() < -n_rows or rows.max() >= n_rows:
        raise InvalidParameter(
            f"cv={in_short(blend.cv)}: expected a share in (0, 1), the numbers of rows, from 0 to {n_rows - 1}, a mask "
            f"of {n_rows} booleans, or a splitter."
        )
    aside: RowArray = np.unique(rows.astype(np.int64) % n_rows)
    learn = np.setdiff1d(np.arange(n_rows), aside)
    if not len(learn):
        raise InvalidParameter("cv lists every row, so members have nothing to learn from.")
    return Fold(learn, aside)


def _trial_of_blend(blend: Any, folds: list[Fold]) -> Any:
    """A trial holds out a share of its own rows, or, with several folds, what the other folds hold out."""
    n_rows = 1 + max(max(fold.train.max(), fold.test.max()) for fold in folds)
    inner = folds_within(folds, n_rows)
    return clone(blend).set_params(cv=inner or len(folds[-1].test) / n_rows)


def _cv_is_splitter(blend: Any) -> bool:
    return Splitter().accepts(blend.cv)


def _cv_is_rows(blend: Any) -> bool:
    return not Splitter().accepts(blend.cv)


@storable_estimator(verify=verify_members)
@documented(stacking_texts)
class BlendingClassifier(BaseStackingClassifier):
    """A blend of members under a final classifier: stacking with one hold-out.

    Members are fitted to most rows, and the final estimator learns from what they predict for the others. Each member
    is fitted once, so blending costs a fifth of stacking with five folds; the final estimator has fewer rows to learn
    from.

    Examples
    --------
    >>> from coterie import BlendingClassifier, DecisionTreeClassifier, RandomForestClassifier
    >>> from coterie.datasets import load_table
    >>> X, y = load_table("wine")
    >>> members = [("forest", RandomForestClassifier(random_state=0)), ("tree", DecisionTreeClassifier())]
    >>> model = BlendingClassifier(members, random_state=0).fit(X, y)
    >>> int((model.oof_coverage_ > 0).sum())
    44
    >>> model.score(X, y) > 0.9
    True
    """

    PARAMS: ClassVar[Params] = {**STACK_OF_CLASSES_PARAMS, **_HOLDOUT}

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = 0.25,
        order: Holdout = "random",
        stack_method: StackMethod = "auto",
        passthrough: Any = False,
        members: MembersKept = "folds",
        oof_score: bool = True,
        leak_guard: bool = False,
        on_error: OnError = "raise",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    _folds = _folds_of_blend
    _trial = _trial_of_blend
    _has_splitter = _cv_is_splitter
    _parts_groups = _cv_is_rows


@storable_estimator(verify=verify_members)
@documented(stacking_texts)
class BlendingRegressor(BaseStackingRegressor):
    """A blend of members under a final regressor: stacking with one hold-out.

    Members are fitted to most rows, and the final estimator learns from what they predict for the others. Each member
    is fitted once, so blending costs a fifth of stacking with five folds; the final estimator has fewer rows to learn
    from.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import BlendingRegressor, DecisionTreeRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = X[:, 0] + (X[:, 1] > 0)
    >>> members = [("linear", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=4))]
    >>> model = BlendingRegressor(members, random_state=0).fit(X, y)
    >>> model.oof_score_ > max(model.member_scores_.values())
    True
    """

    PARAMS: ClassVar[Params] = {**STACKING_PARAMS, **_HOLDOUT}

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = 0.25,
        order: Holdout = "random",
        passthrough: Any = False,
        members: MembersKept = "folds",
        oof_score: bool = True,
        leak_guard: bool = False,
        on_error: OnError = "raise",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    _folds = _folds_of_blend
    _trial = _trial_of_blend
    _has_splitter = _cv_is_splitter
    _parts_groups = _cv_is_rows
