"""Models of other libraries on coterie's engine."""

from coterie.export.any_model import import_model
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.lightgbm_model import from_lightgbm
from coterie.export.sklearn_model import from_sklearn
from coterie.export.xgboost_model import from_xgboost

__all__ = [
    "ImportedClassifier",
    "ImportedRegressor",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "import_model",
]
