"""Models of other libraries on coterie's engine, and coterie's models in other formats."""

from coterie.export.any_model import import_model
from coterie.export.feature_matrix import feature_matrix
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.lightgbm_model import from_lightgbm
from coterie.export.onnx_model import to_onnx
from coterie.export.sklearn_model import from_sklearn
from coterie.export.treelite_model import to_treelite
from coterie.export.xgboost_model import from_xgboost

__all__ = [
    "ImportedClassifier",
    "ImportedRegressor",
    "feature_matrix",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "import_model",
    "to_onnx",
    "to_treelite",
]
