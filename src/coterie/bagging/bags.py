"""The parts of bagging that other ways of drawing are made of."""

from coterie.bagging._bags import Bag, Bags
from coterie.bagging._plan import BagFitSignature, BaggingData

__all__ = ["Bag", "BagFitSignature", "BaggingData", "Bags"]
