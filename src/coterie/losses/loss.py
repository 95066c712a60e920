"""A loss is one object: formulas, derivatives, link, settings, and its names in parameters, files and exports.

A class registers itself by being defined with a name:

    @dataclass(frozen=True)
    class Focal(ClassificationLoss, name="focal"):
        gamma: float = 2.0

Words
  raw        raw predictions: what trees add up, before the inverse link
  formulas   `value`, `gradient` and `hessian` of (y, raw), one float64 per row; they are all that a simple loss writes
  bound      the loss on one training set, in float32, for a tree grower; losses that want to be fast write their own
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from scipy.special import logit

from coterie._typing import AnyArray, CodeArray, FloatArray
from coterie.errors import InvalidParameter
from coterie.losses.base import BEST_CONSTANT, BoundLoss, InitScore, RowLoss
from coterie.losses.formulas import BoundFormulas
from coterie.losses.optimum import LEAST_SHARE

__all__ = [
    "LOSSES",
    "ClassificationLoss",
    "LinkFunction",
    "Loss",
    "LossTask",
    "RegressionLoss",
    "RowFunction",
    "check_between",
]

RowFunction: TypeAlias = Callable[[FloatArray, FloatArray], Any]
LinkFunction: TypeAlias = Callable[[FloatArray], Any]
LossTask: TypeAlias = Literal["regression", "binary", "multiclass"]

LOSSES: dict[str, type["Loss"]] = {}


class Loss:
    """What is minimised, before it has seen data.

    Attributes
    ----------
    name : what `loss=` calls it.
    tasks : "regression", "binary" (two classes) and "multiclass", those that it is for.
    file_name : what model files call it; must never change.
    renamed_settings : names of settings in older model files, and what they are called now.
    is_in_units_of_the_target : whether a target divided by a number only divides raw predictions by it.
    linear_leaves : whether linear_leaves="auto" may put lines into leaves. Where the hessian nearly vanishes, as that
        of some losses does, a line may go very far.
    bound : the form for a tree grower, in float32; by default the formulas, evaluated in float64.
    may_be_concave : whether negative hessians are expected, and deserve no warning.
    hessian : None means 1 for every row.
    baseline : the raw prediction to begin with; None means the constant that fits best.
    inverse_link : from raw predictions, shape (n_rows,), to predictions, or to the probability of the second class;
        None means that they are the predictions themselves, or the log odds.
    """

    name: ClassVar[str]
    tasks: ClassVar[frozenset[LossTask]]
    file_name: ClassVar[str]
    renamed_settings: ClassVar[Mapping[str, str]] = {}
    is_in_units_of_the_target: ClassVar[bool] = False
    linear_leaves: ClassVar[bool] = False
    may_be_concave: ClassVar[bool] = False
    bound: ClassVar[type[BoundLoss]] = BoundFormulas

    value: RowFunction
    gradient: RowFunction
    hessian: RowFunction | None = None
    baseline: float | None = None
    inverse_link: LinkFunction | None = None

    def __init_subclass__(cls, name: str | None = None) -> None:
        """A class with a name of its own is registered; a variant of another loss has none."""
        super().__init_subclass__()
        if name is None:
            return
        known = LOSSES.get(name, cls)
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"Two losses are called {name!r}: {known.__qualname__} and {cls.__qualname__}.")
        cls.name = name
        cls.file_name = f"losses.{cls.__name__}"
        LOSSES[name] = cls

    @property
    def title(self) -> str:
        """What errors call it."""
        return type(self).__name__

    @property
    def n_outputs(self) -> int:
        """Raw predictions per row."""
        return 1

    def check_targets(self, y: FloatArray) -> None:
        """Refuse targets that the loss has no value for."""

    def check_formulas(self, y: FloatArray, raw: FloatArray) -> None:
        """Refuse derivatives that are not those of the value, for losses that no test has seen."""

    def bind(
        self, y: AnyArray, weight: FloatArray | None, n_threads: int, init: InitScore = BEST_CONSTANT
    ) -> BoundLoss:
        """The loss on one training set, for a tree grower; refuses targets that it cannot take."""
        self.check_targets(y)
        return self.bound(self, y, weight, n_threads, init)

    def on_rows(self, y: AnyArray, weight: FloatArray | None) -> RowLoss:
        """The loss for any learner; most need not know the training rows."""
        return self

    def values(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        """The loss of each row, at raw predictions of shape (n_rows, n_outputs)."""
        return np.asarray(self.value(y, raw[:, 0]))

    def gradients(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        """The derivative of each row's loss by each of its raw predictions."""
        return np.asarray(self.gradient(y, raw[:, 0]))[:, None]

    def curvatures(self, y: AnyArray, raw: FloatArray, direction: FloatArray) -> FloatArray | None:
        """The second derivative of each row's loss along its direction; None if the loss does not know it."""
        if self.hessian is None:
            return None
        return np.asarray(self.hessian(y, raw[:, 0]) * direction[:, 0] ** 2)

    def apply_inverse_link(self, raw: FloatArray) -> FloatArray:
        """The inverse link of raw predictions, shape (n_rows,), where there is one."""
        assert self.inverse_link is not None
        return np.asarray(self.inverse_link(raw))

    @property
    def export_link(self) -> str | None:
        """What exports call the inverse link; None if other formats do not have it, and the model is refused."""
        return None

    def for_targets(self, n_targets: int) -> "RegressionLoss":
        """The loss of a regressor with so many targets."""
        raise self._refused("regression")

    def for_classes(self, n_classes: int) -> "ClassificationLoss":
        """The loss of a classifier with so many classes."""
        raise self._refused("classification")

    def _refused(self, task: str) -> InvalidParameter:
        return InvalidParameter(
            f"loss={self!r} is for {' and '.join(sorted(self.tasks))}, not for {task}.",
            parameter="loss",
            received=self,
        )


class RegressionLoss(Loss):
    """A loss of numbers."""

    tasks = frozenset({"regression"})

    def for_targets(self, n_targets: int) -> "RegressionLoss":
        if n_targets == 1:
            return self
        raise InvalidParameter(
            f"loss={self.name!r} takes one target, and y has {n_targets} columns.",
            parameter="loss",
            received=self,
            allowed="squared_error",
            hint="Several targets at once are learned with loss='squared_error'; for another loss fit one model per "
            "column.",
        )

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


def check_between(loss: Loss, setting: str, value: object, low: float = 0.0, high: float = 1.0) -> None:
    """Refuse a setting that is no number between two bounds."""
    if isinstance(value, int | float) and not isinstance(value, bool) and low < value < high:
        return
    allowed = f"a number between {low:g} and {high:g}"
    raise InvalidParameter(
        f"{loss.title}({setting}={value!r}): {setting} must be {allowed}.",
        parameter=setting,
        received=value,
        allowed=allowed,
    )


def _two_probabilities(log_odds: FloatArray) -> FloatArray:
    """Probabilities of the first and second class from the log odds of the second."""
    small = np.exp(-np.abs(log_odds))
    likely = 1 / (1 + small)
    unlikely = small * likely
    positive = log_odds > 0
    return np.column_stack([np.where(positive, unlikely, likely), np.where(positive, likely, unlikely)])
