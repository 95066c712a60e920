"""Any model that can be imported."""

from typing import Any

from coterie.errors import InvalidType
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.readers.lightgbm_model import from_lightgbm
from coterie.export.readers.model_file import bytes_of, format_of, is_file_like
from coterie.export.readers.sklearn_model import from_sklearn, is_sklearn_model
from coterie.export.readers.xgboost_model import from_xgboost


def import_model(model: Any) -> ImportedClassifier | ImportedRegressor:
    """A model that another library trained, on coterie's prediction engine and with the same predictions.

    Parameters
    ----------
    model : a fitted model of LightGBM, XGBoost or scikit-learn, or a path
        Files are told apart by what is inside: the text of LightGBM, the JSON or the UBJ of XGBoost. The libraries need
        not be installed to read their files, and reading runs no code of the file.

    Returns
    -------
    ImportedClassifier or ImportedRegressor

    See Also
    --------
    from_lightgbm, from_sklearn, from_xgboost : what each of them supports.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ExtraTreesClassifier(20, random_state=0).fit(X, y)
    >>> model = import_model(forest)
    >>> bool((model.predict_proba(X) == forest.predict_proba(X)).all())
    True
    """
    if is_file_like(model):
        data = bytes_of(model)
        return from_lightgbm(data) if format_of(data) == "lightgbm text" else from_xgboost(data)
    if is_sklearn_model(model):
        return from_sklearn(model)
    library = {kind.__module__.split(".")[0] for kind in type(model).__mro__}
    if "lightgbm" in library:
        return from_lightgbm(model)
    if "xgboost" in library:
        return from_xgboost(model)
    raise InvalidType.expecting(
        f"import_model received {type(model).__name__}",
        "trees of LightGBM, XGBoost or scikit-learn, or the path of a file",
        "model",
        model,
    )
