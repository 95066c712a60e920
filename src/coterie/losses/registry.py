"""From `loss=` to a loss: names and objects, for the task at hand."""

from dataclasses import dataclass

from coterie.losses.loss import LOSSES, ClassificationLoss, Loss, LossTask, RegressionLoss

__all__ = ["LossFor", "loss_for_classes", "loss_for_targets", "loss_names", "registered_losses"]


def registered_losses() -> tuple[type[Loss], ...]:
    """Every loss that has a name, in the order of the names."""
    return tuple(LOSSES[name] for name in sorted(LOSSES))


def loss_names(task: LossTask) -> tuple[str, ...]:
    """What `loss=` accepts by name.

    Examples
    --------
    >>> loss_names("multiclass")
    ('log_loss',)
    """
    return tuple(loss.name for loss in registered_losses() if task in loss.tasks)


@dataclass(frozen=True)
class LossFor:
    """The rule of a `loss` parameter: a name, or a loss with settings of its own, that is for the task."""

    task: LossTask

    def accepts(self, value: object) -> bool:
        if isinstance(value, str):
            return value in loss_names(self.task)
        return isinstance(value, Loss) and self.task in value.tasks

    def describe(self) -> str:
        names = " or ".join(repr(name) for name in loss_names(self.task))
        return f"{names} or a Loss for {_IN_WORDS[self.task]}"


_IN_WORDS: dict[LossTask, str] = {
    "regression": "regression",
    "binary": "classes",
    "multiclass": "many classes",
}


def loss_for_targets(loss: str | Loss, n_targets: int = 1) -> RegressionLoss:
    """The loss of a regressor.

    Examples
    --------
    >>> loss_for_targets("huber")
    Huber(alpha=0.9)
    """
    return _named(loss).for_targets(n_targets)


def loss_for_classes(loss: str | Loss, n_classes: int) -> ClassificationLoss:
    """The loss of a classifier, for so many classes."""
    return _named(loss).for_classes(n_classes)


def _named(loss: str | Loss) -> Loss:
    return LOSSES[loss]() if isinstance(loss, str) else loss
