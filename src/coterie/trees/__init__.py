"""Single trees: grown by a criterion, read by eye, drawn as text or as a picture."""

from coterie.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor"]
