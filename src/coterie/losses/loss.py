"""A loss is one object: formulas, derivatives, link, settings, and its names in parameters, files and exports.

A class registers itself by being defined with a name:

    @dataclass(frozen=True)
    class Focal(ClassificationLoss, name="focal"):
        gamma: float = 2.0

Words
  raw        raw predictions: what trees add up, before the inverse link
  formulas   `value`, `gradient` and `hessian` of (y, raw), one float64 per row; they are all that a simple loss writes
  bound      the loss on one training set, in float32, for a tree grower; losses that want to be fast write their own
  scores     of a bound loss: float32, relative to the best constant and in units that fit float32 whatever the
             target's, so that the loop never meets a number out of range
"""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.errors import InvalidInput, InvalidParameter

if TYPE_CHECKING:  # the tasks are losses themselves
    from coterie.losses.tasks import ClassificationLoss, RegressionLoss

Float32Array: TypeAlias = NDArray[np.float32]
Derivatives: TypeAlias = tuple[Float32Array, Float32Array]
RowFunction: TypeAlias = Callable[[FloatArray, FloatArray], Any]
LinkFunction: TypeAlias = Callable[[FloatArray], Any]
LossTask: TypeAlias = Literal["regression", "binary", "multiclass"]

LOSSES: dict[str, type["Loss"]] = {}
LEAST_SHARE = 1e-7  # no share is taken for nothing or all, so its logarithm is a number


@dataclass(frozen=True)
class InitScore:
    """The raw predictions that the training rows begin with.

    Parameters
    ----------
    offset : array of shape (n_rows, n_outputs) or None
        A raw prediction that each row has from the start; None means zero. Default None: nothing is known of rows
        before the fit.
    add_constant : bool
        Whether the constant that fits best on top of the offset is added; without it the offset is all there is.
        Default True: the first trees need not learn the mean.
    """

    offset: FloatArray | None = None
    add_constant: bool = True


BEST_CONSTANT = InitScore()


class LeafQuantile(NamedTuple):
    """The values of leaves where Newton's step does not serve: a quantile of the residuals of their rows."""

    level: float
    residual: Float32Array
    weight: Float32Array


class RowLoss(Protocol):
    """A loss of targets `y`, shape (n_rows,), at raw predictions of shape (n_rows, n_outputs), in float64."""

    def values(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        """The loss of each row."""

    def gradients(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        """The derivative of each row's loss by each of its raw predictions."""

    def curvatures(self, y: AnyArray, raw: FloatArray, direction: FloatArray) -> FloatArray | None:
        """The second derivative of each row's loss along its direction; None if the loss does not know it."""


class Workers(Protocol):
    """Those who train one model together, each on a slice of the rows."""

    def gather(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The words of all workers, in the order of their rows."""


class BoundLoss(ABC):
    """One loss on one training set.

    Parameters
    ----------
    loss : RowLoss
    y : array of shape (n_rows,) or (n_rows, n_targets)
    weight : array of shape (n_rows,) or None, how often each row counts
    n_threads : int, threads of the engine; 0 leaves the number to it
    init : InitScore, what raw predictions begin with

    Attributes
    ----------
    n_outputs : trees per round, and scores per row.
    baseline : the best constant raw prediction of each output, on top of the offset if there is one.
    scale : a score of 1 is a raw prediction of so much.
    scores : of the training rows, one row per output, relative to where they begin and in units of `scale`.
    joint_units : for outputs that share their trees, the scale of each.
    is_relative : whether a number added to all scores of a row changes nothing.
    is_separate : whether each output is learned as if it were alone, and its trees draw what they would draw then.
    workers : those who have the other rows; None if all rows are here.
    by_row : names of the arrays whose last axis are the rows.
    """

    by_row: ClassVar[tuple[str, ...]] = ("scores", "_weight")
    workers: Workers | None = None
    n_outputs: int = 1
    baseline: FloatArray
    scale: float
    scores: Float32Array
    offset: FloatArray | None = None
    joint_units: FloatArray | None = None
    is_relative: ClassVar[bool] = False
    is_separate: ClassVar[bool] = False

    def __init__(
        self, loss: RowLoss, y: AnyArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        self.loss = loss
        self._n_threads = n_threads
        self.offset = init.offset
        self._weight = no_hessian() if weight is None else weight.astype(np.float32)

    def of_rows(self, rows: slice) -> Self:
        """The same loss, with the same constants, for copies of some of its rows: what a worker has of it."""
        own = copy.copy(self)
        for name in self.by_row:
            held = getattr(self, name)
            parts = [part[..., rows].copy() for part in (held if isinstance(held, list) else [held])]
            setattr(own, name, parts if isinstance(held, list) else parts[0])
        own.offset = None if self.offset is None else self.offset[rows].copy()
        return own

    def of_all_workers(self, values: NDArray[Any]) -> NDArray[Any]:
        """Numbers of rows, followed by those of the rows of all other workers, in the order of the whole table."""
        if self.workers is None:
            return values
        gathered = self.workers.gather(values.astype(np.float64).view(np.uint64))
        return gathered.view(np.float64).astype(values.dtype)

    @property
    def units(self) -> FloatArray:
        """What a score of each output is worth in the user's units."""
        return np.full(self.n_outputs, self.scale) if self.joint_units is None else self.joint_units

    def of_output(self, output: int) -> "BoundLoss":
        """What the trees of one output are grown for: its units, and whether lines serve it."""
        return self

    def begin_round(self) -> None:  # noqa: B027  most losses need no look at the scores of all outputs
        """Look at the scores of all outputs, before their trees are grown."""

    @abstractmethod
    def derivatives(self, output: int) -> Derivatives:
        """Gradient and hessian of each row for one output; an empty hessian means 1 for every row."""

    def joint_derivatives(self) -> Derivatives:
        """For outputs that share their trees: gradients, one row per output, and the hessian of all of them."""
        raise AssertionError("each output has trees of its own")

    def direction_derivatives(self, direction: Float32Array) -> Derivatives:
        """For trees that serve all outputs: derivatives along a direction over the raw predictions.

        It takes the place of `begin_round`: the derivatives of single outputs come after it, at the same scores.
        """
        raise AssertionError("the outputs of this loss do not share trees")

    def leaf_quantile(self, output: int) -> LeafQuantile | None:
        """The quantile that leaves hold, for losses whose derivatives do not tell how far to go."""
        return None

    def init_scores(self, rows: RowArray) -> FloatArray:
        """Raw predictions of some training rows before the first tree, shape (len(rows), n_outputs)."""
        baseline = np.tile(self.baseline, (len(rows), 1))
        return baseline if self.offset is None else baseline + self.offset[rows]

    def raw_predictions(self, rows: RowArray) -> FloatArray:
        """Raw predictions of some training rows, shape (len(rows), n_outputs)."""
        return np.asarray(self.init_scores(rows) + self.scale * self.scores[:, rows].T.astype(np.float64))

    def mean_value(self, y: AnyArray, raw: FloatArray, weight: FloatArray | None) -> float:
        """Mean loss of any rows with these raw predictions, shape (n_rows, n_outputs)."""
        with np.errstate(over="ignore"):
            return float(np.average(self.loss.values(y, raw), weights=weight))


class UnscaledBoundLoss(BoundLoss):
    """A loss whose scores are the raw predictions themselves, which are of moderate size: log odds and their kind."""

    scale = 1.0

    def __init__(
        self, loss: RowLoss, y: AnyArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        self.baseline = np.zeros(self.n_outputs)
        if init.add_constant:
            self.baseline[:] = self.best_constant(y, weight, init.offset)
        if init.offset is None:
            self.scores = np.repeat(self.baseline.astype(np.float32)[:, None], len(y), axis=1)
        else:
            # Beyond 1e30 a probability is 0 or 1 anyway, and float32 ends at 3e38.
            raw = np.clip(self.baseline + init.offset, -1e30, 1e30)
            self.scores = np.ascontiguousarray(raw.T, dtype=np.float32)

    @abstractmethod
    def best_constant(
        self, y: AnyArray, weight: FloatArray | None, offset: FloatArray | None
    ) -> float | FloatArray:
        """The constant that fits best on top of an offset of shape (n_rows, n_outputs)."""

    def raw_predictions(self, rows: RowArray) -> FloatArray:
        return self.scores[:, rows].T.astype(np.float64)


class BoundResiduals(BoundLoss):
    """A loss of y minus the raw prediction, which is the prediction itself.

    It works on (y - baseline) / scale with a power of two as the scale, so that nothing is rounded by it and every
    target fits float32. It only depends on y minus the raw prediction, so an offset is taken off the target.
    """

    by_row: ClassVar[tuple[str, ...]] = ("scores", "_weight", "_y")

    def __init__(
        self, loss: RowLoss, y: FloatArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        targets = [without_offset(y, init, output) for output in range(self.n_outputs)]
        self.baseline = np.zeros(self.n_outputs)
        if init.add_constant:
            best = [self.best_constant(target, weight, output) for output, target in enumerate(targets)]
            self.baseline[:] = best
        rests = [target - constant for target, constant in zip(targets, self.baseline, strict=True)]
        self.scale = power_of_two_above(max(float(np.abs(rest).max(initial=0.0)) for rest in rests))
        self.scores = np.zeros((self.n_outputs, len(y)), dtype=np.float32)
        self._y = [(rest / self.scale).astype(np.float32) for rest in rests]

    @abstractmethod
    def best_constant(self, y: FloatArray, weight: FloatArray | None, output: int) -> float:
        """The constant that fits these targets best."""

    def residual(self, output: int) -> Float32Array:
        """Target minus score, in the loop's units."""
        return np.asarray(self._y[output] - self.scores[output], dtype=np.float32)


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
    bound: ClassVar[type[BoundLoss]]

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

    def for_numbers(self) -> "RegressionLoss":
        """The loss of a regressor."""
        if "regression" not in self.tasks:
            raise self._refused("regression")
        return cast("RegressionLoss", self)

    def for_classes(self, n_classes: int) -> "ClassificationLoss":
        """The loss of a classifier with so many classes."""
        raise self._refused("classification")

    def _refused(self, task: str) -> InvalidParameter:
        return InvalidParameter(
            f"loss={self!r} is for {' and '.join(sorted(self.tasks))}, not for {task}.",
            parameter="loss",
            received=self,
        )


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


def loss_for_numbers(loss: str | Loss) -> "RegressionLoss":
    """The loss of a regressor, of one target.

    Parameters
    ----------
    loss : str or Loss
    n_targets : int, columns of y
        Default 1: most targets are one column.

    Examples
    --------
    >>> loss_for_numbers("huber")
    Huber(alpha=0.9)
    """
    return _named(loss).for_numbers()


def loss_for_classes(loss: str | Loss, n_classes: int) -> "ClassificationLoss":
    """The loss of a classifier, for so many classes.

    Parameters
    ----------
    loss : str or Loss
    n_classes : int

    Examples
    --------
    >>> loss_for_classes("log_loss", 3).n_outputs
    3
    """
    return _named(loss).for_classes(n_classes)


def _named(loss: str | Loss) -> Loss:
    return LOSSES[loss]() if isinstance(loss, str) else loss


def without_offset(y: FloatArray, init: InitScore, output: int) -> FloatArray:
    """Targets minus the offset of one output."""
    if init.offset is None:
        return y
    with np.errstate(over="ignore"):
        rest = y - init.offset[:, output]
    wrong = np.flatnonzero(~np.isfinite(rest))
    if len(wrong):
        row = int(wrong[0])
        raise InvalidInput(
            f"y minus its start is too large for a float in row {row}: y is {y[row]:g} and the offset "
            f"{init.offset[row, output]:g}.",
            parameter="offset",
            received=float(init.offset[row, output]),
            hint="Divide both by the same number.",
        )
    return rest


def no_hessian() -> Float32Array:
    """The hessian of a loss whose second derivative is 1 everywhere."""
    return np.empty(0, dtype=np.float32)


def weighted(gradient: Float32Array, hessian: Float32Array, weight: Float32Array) -> Derivatives:
    """Derivatives times weights, of which there may be none; where the hessian is 1, it becomes the weight."""
    if len(weight) == 0:
        return gradient, hessian
    return gradient * weight, (hessian * weight if len(hessian) else weight)


def safe_mean(y: FloatArray, weight: FloatArray | None) -> float:
    """The weighted mean, also of numbers whose sum is too large for a float."""
    largest = float(np.abs(y).max(initial=0.0))
    if not 1e-200 < largest < 1e200:
        scale = power_of_two_above(largest)
        return float(np.average(y / scale, weights=weight)) * scale
    return float(np.average(y, weights=weight))


def power_of_two_above(value: float) -> float:
    """The least power of two above a number, kept inside the range of floats.

    Examples
    --------
    >>> power_of_two_above(5.0), power_of_two_above(0.0)
    (8.0, 1.0)
    """
    exponent = math.frexp(value)[1] if value > 0 else 0
    return 2.0 ** min(max(exponent, -1021), 1023)
