"""Any model that can be imported; files are read whole, and their formats told apart by what is inside."""

import os
from pathlib import Path
from typing import Any, Literal

from coterie.errors import InvalidType, ModelFileError
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.readers.lightgbm_model import from_lightgbm
from coterie.export.readers.sklearn_model import from_sklearn, is_sklearn_model
from coterie.export.readers.xgboost_model import from_xgboost

Format = Literal["lightgbm text", "json", "ubjson"]

_REFUSED = (
    (b"\x80", "a pickle, which can run any code when it is read"),
    (b"PK\x03\x04", "a zip file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"binf", "the old binary format of XGBoost"),
    (b"CBM1", "a CatBoost model"),
)
_ADVICE = (
    "Expected the text of LightGBM's save_model, or the JSON or UBJ file of XGBoost's save_model; a scikit-learn model "
    "is imported as the object it is."
)


def is_file_like(source: Any) -> bool:
    """Whether this is a path, or the content of a file."""
    return isinstance(source, str | bytes | os.PathLike)


def bytes_of(source: str | bytes | os.PathLike[str]) -> bytes:
    """The content of a file. Text of several lines, or that begins with a brace, is the content itself."""
    if isinstance(source, bytes):
        return source
    if isinstance(source, str) and ("\n" in source or source.lstrip()[:1] == "{"):
        return source.encode()
    return Path(source).read_bytes()


def format_of(data: bytes) -> Format:
    """Which of the formats this is, whatever the file is called."""
    for start, what in _REFUSED:
        if data.startswith(start):
            raise ModelFileError(f"The file is {what}. {_ADVICE}")
    text = data[:64].lstrip()
    if text.startswith(b"tree") and text[4:].lstrip(b"\r")[:1] == b"\n":
        return "lightgbm text"
    if text.startswith(b"{"):
        inside = text[1:].lstrip()[:1]
        return "json" if inside in (b'"', b"}", b"") else "ubjson"
    raise ModelFileError(
        f"The file begins with {data[:20]!r}, which is no model that can be imported. {_ADVICE}"
    )


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
    raise InvalidType(
        f"import_model received {type(model).__name__}; expected trees of LightGBM, XGBoost or scikit-learn, or "
        "the path of a file that LightGBM or XGBoost saved.",
        parameter="model",
        received=model,
        allowed="trees of LightGBM, XGBoost or scikit-learn, or the path of a file",
    )
