"""Neural networks for tables, in numpy."""

from coterie.networks.neural_network import NeuralNetworkClassifier, NeuralNetworkRegressor

__all__ = ["NeuralNetworkClassifier", "NeuralNetworkRegressor"]
