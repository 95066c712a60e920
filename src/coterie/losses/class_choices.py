"""What `loss=` of the classifier accepts, and how its scores become probabilities and classes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from coterie._typing import AnyArray, CodeArray, FloatArray
from coterie.errors import InvalidParameter
from coterie.losses.base import BEST_CONSTANT, BoostingLoss, Origin
from coterie.losses.classification import BinaryLogLoss, ExponentialLoss, MultinomialLogLoss
from coterie.losses.custom import CustomError, CustomLoss
from coterie.losses.optimum import LEAST_SHARE

__all__ = ["CLASS_LOSS_NAMES", "ClassLoss", "class_loss_of"]


@dataclass(frozen=True)
class ClassLoss(ABC):
    """A loss for two or more classes before it has seen data; two classes have one score, K have K."""

    n_classes: int

    @abstractmethod
    def begin(
        self, codes: CodeArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        """The loss on one training set."""

    @abstractmethod
    def probabilities(self, scores: FloatArray) -> FloatArray:
        """The probability of each class, from scores of shape (n_rows, n_outputs)."""

    @abstractmethod
    def scores_of(self, probabilities: FloatArray) -> FloatArray | None:
        """Scores with these probabilities, shape (n_rows, n_outputs); None if the loss cannot say."""

    def chosen(self, scores: FloatArray) -> AnyArray:
        """The number of the most probable class; on a tie, the first."""
        return np.asarray(scores.argmax(axis=1) if self.n_classes > 2 else (scores[:, 0] > 0).astype(np.intp))


class _LogLoss(ClassLoss):
    def begin(
        self, codes: CodeArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        if self.n_classes == 2:
            return BinaryLogLoss(codes, weight, n_threads, origin)
        return MultinomialLogLoss(codes, self.n_classes, weight, n_threads, origin)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        if self.n_classes == 2:
            return _two_probabilities(scores[:, 0])
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))

    def scores_of(self, probabilities: FloatArray) -> FloatArray:
        if self.n_classes == 2:
            return _log_odds(probabilities)
        logs = np.log(np.clip(probabilities, LEAST_SHARE, 1.0))
        return np.asarray(logs - logs.mean(axis=1, keepdims=True))


class _Exponential(ClassLoss):
    def begin(
        self, codes: CodeArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        return ExponentialLoss(codes, weight, origin)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return _two_probabilities(2 * scores[:, 0])

    def scores_of(self, probabilities: FloatArray) -> FloatArray:
        return _log_odds(probabilities) / 2


@dataclass(frozen=True)
class _Custom(ClassLoss):
    choice: CustomLoss

    def begin(
        self, codes: CodeArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        return CustomError(self.choice, codes, weight, origin)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        if self.choice.link is None:
            return _two_probabilities(scores[:, 0])
        second = self.choice.answers(scores)
        wrong = np.flatnonzero((second < 0) | (second > 1))
        if len(wrong):
            row = int(wrong[0])
            raise InvalidParameter(
                f"The link of the CustomLoss is {second[row]:g} at score={scores[row, 0]:g}; a classifier needs the "
                "probability of the second class, from 0 to 1."
            )
        return np.column_stack([1 - second, second])

    def scores_of(self, probabilities: FloatArray) -> FloatArray | None:
        return _log_odds(probabilities) if self.choice.link is None else None

    def chosen(self, scores: FloatArray) -> AnyArray:
        return np.asarray(self.probabilities(scores).argmax(axis=1))


_CHOICES: dict[str, type[ClassLoss]] = {"log_loss": _LogLoss, "exponential": _Exponential}

CLASS_LOSS_NAMES = tuple(_CHOICES)


def class_loss_of(choice: str | CustomLoss, n_classes: int) -> ClassLoss:
    """The loss behind a name or a custom one, for so many classes; only log loss takes more than two."""
    if n_classes > 2 and choice != "log_loss":
        raise InvalidParameter(
            f"loss={choice!r} is for two classes; y has {n_classes}. Choose loss='log_loss', or fit one class against "
            "the rest."
        )
    return _CHOICES[choice](n_classes) if isinstance(choice, str) else _Custom(n_classes, choice)


def _log_odds(probabilities: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(probabilities[:, [1]], LEAST_SHARE, 1 - LEAST_SHARE)))


def _two_probabilities(score: FloatArray) -> FloatArray:
    """Probabilities of the first and second class from the log odds of the second."""
    small = np.exp(-np.abs(score))
    likely = 1 / (1 + small)
    unlikely = small * likely
    positive = score > 0
    return np.column_stack([np.where(positive, unlikely, likely), np.where(positive, likely, unlikely)])
