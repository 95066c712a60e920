"""Models of scikit-learn."""

from collections.abc import Callable
from typing import Any

from sklearn import ensemble, tree
from sklearn.utils.validation import check_is_fitted

from coterie.errors import InvalidType
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.readers.assemble import Findings, assemble
from coterie.export.readers.sklearn_hist import hist_findings
from coterie.export.readers.sklearn_trees import boosting_findings, forest_findings

_READERS: dict[type, Callable[[Any], Findings]] = {
    tree.DecisionTreeClassifier: forest_findings,
    tree.DecisionTreeRegressor: forest_findings,
    ensemble.RandomForestClassifier: forest_findings,
    ensemble.RandomForestRegressor: forest_findings,
    ensemble.ExtraTreesClassifier: forest_findings,
    ensemble.ExtraTreesRegressor: forest_findings,
    ensemble.GradientBoostingClassifier: boosting_findings,
    ensemble.GradientBoostingRegressor: boosting_findings,
    ensemble.HistGradientBoostingClassifier: hist_findings,
    ensemble.HistGradientBoostingRegressor: hist_findings,
}


def is_sklearn_model(model: Any) -> bool:
    """Whether `from_sklearn` knows this kind of model."""
    return isinstance(model, tuple(_READERS))


def from_sklearn(model: Any) -> ImportedClassifier | ImportedRegressor:
    """A tree, a forest or gradient boosting of scikit-learn, with scikit-learn's predictions.

    Categories and missing values are supported where the model supports them. Rows go down the trees as in
    scikit-learn, to the bit, and scores are added in the same order.

    Parameters
    ----------
    model : fitted estimator
        `DecisionTree*`, `ExtraTree*`, `RandomForest*`, `ExtraTrees*`, `GradientBoosting*` or `HistGradientBoosting*`,
        classifiers and regressors. Forests and trees for several numbers at once are supported, for several labels at
        once they are not.

    Returns
    -------
    ImportedClassifier or ImportedRegressor

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, np.sqrt(X[:, 0]))
    >>> bool((from_sklearn(model).predict(X) == model.predict(X)).all())
    True
    """
    for kind, findings in _READERS.items():
        if isinstance(model, kind):
            check_is_fitted(model)
            return assemble(findings(model))
    known = ", ".join(kind.__name__ for kind in _READERS)
    raise InvalidType(
        f"from_sklearn received {type(model).__name__}; expected a fitted {known}.",
        parameter="model",
        received=model,
        allowed=f"a fitted {known}",
    )
