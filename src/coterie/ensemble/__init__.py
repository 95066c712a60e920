"""`sklearn.ensemble` on the engine of coterie: the same names, parameters, defaults and attributes.

from coterie.ensemble import RandomForestClassifier      # was: sklearn.ensemble
"""

from sklearn import tree as _theirs
from sklearn.ensemble import BaseEnsemble

from coterie.ensemble.adaboost import AdaBoostClassifier, AdaBoostRegressor
from coterie.ensemble.bagging import BaggingClassifier, BaggingRegressor
from coterie.ensemble.combining import (
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from coterie.ensemble.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.ensemble.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.ensemble.hist_gradient_boosting import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from coterie.ensemble.unsupervised import IsolationForest, RandomTreesEmbedding
from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor

# Trees of forests, and those that bags are made of, are decision trees also for scikit-learn: its drawings and texts
# take them. Nothing of scikit-learn is replaced by that.
_theirs.DecisionTreeClassifier.register(DecisionTreeClassifier)
_theirs.DecisionTreeRegressor.register(DecisionTreeRegressor)

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BaseEnsemble",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "IsolationForest",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesEmbedding",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
]
