"""The tasks of losses, numbers and classes: links between raw predictions and predictions, and what `loss=` may be."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logit

from coterie._typing import CodeArray, FloatArray
from coterie.errors import InvalidParameter
from coterie.losses.formulas import BoundFormulas
from coterie.losses.loss import LEAST_SHARE, LOSSES, BoundLoss, Loss, LossTask


class RegressionLoss(Loss):
    """A loss of numbers."""

    tasks = frozenset({"regression"})
    bound: ClassVar[type[BoundLoss]] = BoundFormulas

    def joint(self, n_targets: int) -> "RegressionLoss | None":
        """One loss of several targets that share exact gains of splits; None if their hessians are not the same."""
        return None

    def predictions(self, raw: FloatArray) -> FloatArray:
        """From raw predictions, shape (n_rows, n_outputs), to those that `predict` returns."""
        return raw[:, 0] if self.inverse_link is None else self.apply_inverse_link(raw[:, 0])

    def link(self, predictions: FloatArray) -> FloatArray:
        """From predictions, any shape, to raw predictions; refuses those that no raw prediction gives."""
        return predictions

    @property
    def export_link(self) -> str | None:
        is_identity = self.inverse_link is None and type(self).predictions is RegressionLoss.predictions
        return "identity" if is_identity else None


class ClassificationLoss(Loss):
    """A loss of two classes, 0 and 1, with one raw prediction; variants for K classes have K.

    The log odds of the second class are `log_odds_scale` times the raw prediction, if there is no inverse link.
    """

    tasks = frozenset({"binary"})
    bound: ClassVar[type[BoundLoss]] = BoundFormulas
    log_odds_scale: ClassVar[float] = 1.0

    def for_classes(self, n_classes: int) -> "ClassificationLoss":
        if n_classes <= 2:
            return self
        raise InvalidParameter(
            f"loss={self.name!r} is for two classes; y has {n_classes}.",
            parameter="loss",
            received=self,
            allowed="log_loss",
            hint="Choose loss='log_loss', or fit one class against the rest.",
        )

    def probabilities(self, raw: FloatArray) -> FloatArray:
        """The probability of each class, from raw predictions of shape (n_rows, n_outputs)."""
        if self.inverse_link is None:
            return _two_probabilities(self.log_odds_scale * raw[:, 0])
        second = self.apply_inverse_link(raw[:, 0])
        wrong = np.flatnonzero((second < 0) | (second > 1))
        if len(wrong):
            row = int(wrong[0])
            raise InvalidParameter(
                f"The inverse_link of the {self.title} is {second[row]:g} at score={raw[row, 0]:g}; a "
                "classifier needs the probability of the second class, from 0 to 1.",
                parameter="inverse_link",
                received=float(second[row]),
                allowed="a probability from 0 to 1",
            )
        return np.column_stack([1 - second, second])

    def link(self, probabilities: FloatArray) -> FloatArray | None:
        """Raw predictions with these probabilities, shape (n_rows, n_outputs); None if the loss cannot tell."""
        if self.inverse_link is not None:
            return None
        second = np.clip(probabilities[:, [1]], LEAST_SHARE, 1 - LEAST_SHARE)
        return np.asarray(logit(second) / self.log_odds_scale)

    def most_probable(self, raw: FloatArray) -> CodeArray:
        """The number of the most probable class; on a tie, the first."""
        if self.inverse_link is not None:
            return np.asarray(self.probabilities(raw).argmax(axis=1))
        return np.asarray(raw.argmax(axis=1) if self.n_outputs > 1 else (raw[:, 0] > 0).astype(np.intp))

    @property
    def export_link(self) -> str | None:
        is_logistic = self.inverse_link is None and (
            type(self).probabilities is ClassificationLoss.probabilities
        )
        return "logistic" if is_logistic else None


def _two_probabilities(log_odds: FloatArray) -> FloatArray:
    """Probabilities of the first and second class from the log odds of the second."""
    small = np.exp(-np.abs(log_odds))
    likely = 1 / (1 + small)
    unlikely = small * likely
    positive = log_odds > 0
    return np.column_stack([np.where(positive, unlikely, likely), np.where(positive, likely, unlikely)])


def registered_losses() -> tuple[type[Loss], ...]:
    """Every loss that has a name, in the order of the names."""
    return tuple(LOSSES[name] for name in sorted(LOSSES))


def loss_names(task: LossTask) -> tuple[str, ...]:
    """What `loss=` accepts by name.

    Parameters
    ----------
    task : {"regression", "binary", "multiclass"}

    Examples
    --------
    >>> loss_names("multiclass")
    ('log_loss',)
    """
    return tuple(loss.name for loss in registered_losses() if task in loss.tasks)


@dataclass(frozen=True)
class LossFor:
    """The rule of a `loss` parameter: a name, or a loss with settings of its own, that is for the task.

    Parameters
    ----------
    task : {"regression", "binary", "multiclass"}

    Examples
    --------
    >>> LossFor("multiclass").accepts("log_loss"), LossFor("multiclass").accepts("huber")
    (True, False)
    """

    task: LossTask

    @property
    def names(self) -> tuple[str, ...]:
        return loss_names(self.task)

    def accepts(self, value: object) -> bool:
        if isinstance(value, str):
            return value in self.names
        return isinstance(value, Loss) and self.task in value.tasks

    def describe(self) -> str:
        names = " or ".join(map(repr, self.names))
        return f"{names} or a Loss for {_IN_WORDS[self.task]}"


_IN_WORDS: dict[LossTask, str] = {
    "regression": "regression",
    "binary": "classes",
    "multiclass": "many classes",
}
