"""Models of other libraries on coterie's engine, and coterie's models in other formats."""

from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.readers.any_model import import_model
from coterie.export.readers.lightgbm_model import from_lightgbm
from coterie.export.readers.sklearn_model import from_sklearn
from coterie.export.readers.xgboost_model import from_xgboost
from coterie.export.tree_models import feature_matrix
from coterie.export.writers.onnx_model import to_onnx
from coterie.export.writers.shap_model import to_shap
from coterie.export.writers.treelite_model import to_treelite

__all__ = [
    "ImportedClassifier",
    "ImportedRegressor",
    "feature_matrix",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "import_model",
    "to_onnx",
    "to_shap",
    "to_treelite",
]
