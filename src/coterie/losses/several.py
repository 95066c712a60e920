"""The loss of several targets: the mean over the losses of each, whose trees share nothing or their splits.

A target, or a label, has a score of its own, and the loss of one does not depend on the score of another. So the
second derivatives by two different scores are zero, and along a direction over the scores, with a number d for each
target, the gradient of a row is the sum of d g and its hessian the sum of d^2 h over its targets.

Targets have units of their own, and labels are rare or common. Gradients are divided by their root mean square before
the first tree, and hessians by their mean, so that each target counts alike in the splits that all of them share.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from coterie._typing import AnyArray, CodeArray, FloatArray, RowArray
from coterie.errors import CoterieError, InvalidParameter
from coterie.losses.loss import (
    BEST_CONSTANT,
    BoundLoss,
    Derivatives,
    Float32Array,
    InitScore,
    LeafQuantile,
    Loss,
    Workers,
)


class BoundLossOfEach(BoundLoss):
    """A bound loss for each target; their scores are the rows of one array.

    A target without anything to learn, a label that all rows have, has no score. `counts` are what the gradient and
    the hessian of each score are multiplied by in splits that all share.
    """

    by_row = ()
    is_separate = True
    scale = 1.0  # of shared trees, whose values are given their units after they were grown

    def __init__(
        self,
        loss: "LossOfEach",
        y: AnyArray,
        weight: FloatArray | None,
        n_threads: int,
        init: InitScore,
    ) -> None:
        starts = np.cumsum([0, *(part.n_outputs for part in loss.parts)])
        self.parts: list[BoundLoss] = []
        for place, (part, begin) in enumerate(zip(loss.parts, starts, strict=False)):
            own = None if init.offset is None else init.offset[:, begin : begin + part.n_outputs]
            with loss.named(place):
                self.parts.append(
                    part.bind(y[:, place], weight, n_threads, InitScore(own, init.add_constant))
                )
        super().__init__(loss, y, weight, n_threads, init)
        self.n_outputs = loss.n_outputs
        self.baseline = np.zeros(max(1, self.n_outputs))
        self._parts_with_score = [part for part in self.parts if part.n_outputs]
        self._columns = [place for place, part in enumerate(self.parts) if part.n_outputs]
        for output, part in enumerate(self._parts_with_score):
            self.baseline[output] = part.baseline[0]
        self._own_units = np.array([part.scale for part in self._parts_with_score])
        self.scores = np.zeros((self.n_outputs, len(y)), dtype=np.float32)
        for score, part in zip(self.scores, self._parts_with_score, strict=True):
            score[:] = part.scores[0]
        self._join_scores()
        self._known: list[Derivatives] = []
        self.counts = [_counts(part, weight) for part in self._parts_with_score]
        self._units_of_loss = self._losses_of_the_start(loss, y, weight)

    def of_rows(self, rows: slice) -> Self:
        own = super().of_rows(rows)
        own.scores = self.scores[:, rows].copy()
        own._weight = self._weight[rows].copy()
        own.parts = [part.of_rows(rows) for part in self.parts]
        own._parts_with_score = [part for part in own.parts if part.n_outputs]
        own._known = []
        own._join_scores()
        return own

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._parts_with_score = [part for part in self.parts if part.n_outputs]
        self._join_scores()

    def _join_scores(self) -> None:
        """Let each part have its row of the scores."""
        for output, part in enumerate(self._parts_with_score):
            part.scores = self.scores[output : output + 1]

    @property
    def units(self) -> FloatArray:
        return self._own_units

    @property
    def workers(self) -> Workers | None:
        return self._workers

    @workers.setter
    def workers(self, workers: Workers | None) -> None:
        self._workers = workers
        for part in self.parts:
            part.workers = workers

    _workers: Workers | None = None

    def of_output(self, output: int) -> BoundLoss:
        """The loss of one score alone."""
        return self._parts_with_score[output]

    def begin_round(self) -> None:
        self._known = []
        for part in self._parts_with_score:
            part.begin_round()

    def derivatives(self, output: int) -> Derivatives:
        return self._known[output] if self._known else self._parts_with_score[output].derivatives(0)

    def direction_derivatives(self, direction: Float32Array) -> Derivatives:
        self.begin_round()
        self._known = [_with_hessian(part.derivatives(0)) for part in self._parts_with_score]
        gradient = np.zeros(self.scores.shape[1], dtype=np.float32)
        hessian = np.zeros_like(gradient)
        for share, (of_gradient, of_hessian), own in zip(direction, self.counts, self._known, strict=True):
            gradient += (share * of_gradient) * own[0]
            hessian += (share * share * of_hessian) * own[1]
        return gradient, hessian

    def leaf_quantile(self, output: int) -> LeafQuantile | None:
        return self._parts_with_score[output].leaf_quantile(0)

    def raw_predictions(self, rows: RowArray) -> FloatArray:
        return np.column_stack([part.raw_predictions(rows) for part in self._parts_with_score])

    def mean_value(self, y: AnyArray, raw: FloatArray, weight: FloatArray | None) -> float:
        """The mean over targets; those in units of their own are divided by the loss of their constant."""
        values = [
            part.mean_value(y[:, place], raw[:, [output]], weight) / unit
            for output, (part, place, unit) in enumerate(
                zip(self._parts_with_score, self._columns, self._units_of_loss, strict=True)
            )
        ]
        return float(np.sum(values)) / len(self.parts)

    def _losses_of_the_start(self, loss: "LossOfEach", y: AnyArray, weight: FloatArray | None) -> list[float]:
        if not all(part.is_in_units_of_the_target for part in loss.parts):
            return [1.0] * self.n_outputs
        every_row = np.arange(len(y))
        found = [
            part.mean_value(y[:, place], part.init_scores(every_row), weight)
            for part, place in zip(self._parts_with_score, self._columns, strict=True)
        ]
        return [each if 0 < each < np.inf else 1.0 for each in found]


def _with_hessian(derivatives: Derivatives) -> Derivatives:
    gradient, hessian = derivatives
    return gradient, hessian if len(hessian) else np.ones_like(gradient)


def _counts(part: BoundLoss, weight: FloatArray | None) -> tuple[np.float32, np.float32]:
    """One over the root mean square of the gradients, and over the mean of the hessians; 0 where nothing is left."""
    part.begin_round()
    gradient, hessian = (own.astype(np.float64) for own in _with_hessian(part.derivatives(0)))
    counts = np.ones(len(gradient)) if weight is None else weight
    rows = counts > 0
    total = float(counts.sum())
    size = np.sqrt(float((gradient[rows] ** 2 / counts[rows]).sum()) / total)
    curvature = float(hessian[rows].sum()) / total
    least = float(np.finfo(np.float32).tiny)
    if size < least or curvature < least:
        return np.float32(0), np.float32(0)
    return np.float32(1 / size), np.float32(1 / curvature)


@dataclass(frozen=True)
class LossOfEach(Loss):
    """Several targets, each with a loss of its own: numbers, or labels of two classes.

    Attributes
    ----------
    parts : the loss of each target

    Examples
    --------
    >>> from coterie.losses import Poisson
    >>> both = LossOfEach((Poisson(), Poisson()))
    >>> both.bind(np.array([[1.0, 8.0], [3.0, 8.0]]), None, 1).baseline.round(3)
    array([0.693, 2.079])
    """

    parts: tuple[Any, ...]

    bound = BoundLossOfEach

    def __post_init__(self) -> None:
        object.__setattr__(self, "linear_leaves", all(part.linear_leaves for part in self.parts))
        several = next((part for part in self.parts if part.n_outputs > 1), None)
        if several is not None:
            raise InvalidParameter(
                f"loss={several!r} predicts {several.n_outputs} numbers of each row, and y has {len(self.parts)} "
                "columns.",
                parameter="loss",
                received=several,
                allowed="one level of a quantile, for all targets",
                hint="Give one level, or fit one model per column.",
            )

    @property
    def n_outputs(self) -> int:
        return sum(part.n_outputs for part in self.parts)

    @property
    def export_link(self) -> str | None:
        names = {part.export_link for part in self.parts if part.n_outputs}
        return names.pop() if len(names) == 1 else None

    @contextmanager
    def named(self, place: int) -> Iterator[None]:
        """Errors about a target say which."""
        try:
            yield
        except CoterieError as error:
            raise error.within(f"column {place} of y") from error

    def check_targets(self, y: AnyArray) -> None:
        for place, part in enumerate(self.parts):
            with self.named(place):
                part.check_targets(y[:, place])

    def bind(
        self, y: AnyArray, weight: FloatArray | None, n_threads: int, init: InitScore = BEST_CONSTANT
    ) -> BoundLossOfEach:
        return BoundLossOfEach(self, y, weight, n_threads, init)

    def values(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        values = [part.values(y[:, place], own) for place, part, own in self._with_scores(raw)]
        return np.asarray(np.sum(values, axis=0) / len(self.parts))

    def gradients(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        slopes = [part.gradients(y[:, place], own) for place, part, own in self._with_scores(raw)]
        return np.column_stack(slopes) / len(self.parts)

    def curvatures(self, y: AnyArray, raw: FloatArray, direction: FloatArray) -> FloatArray | None:
        bends = [
            part.curvatures(y[:, place], own, ahead)
            for (place, part, own), (_, _, ahead) in zip(
                self._with_scores(raw), self._with_scores(direction), strict=True
            )
        ]
        return None if any(own is None for own in bends) else np.asarray(sum(bends)) / len(self.parts)

    def predictions(self, raw: FloatArray) -> FloatArray:
        """From raw predictions of numbers to those that `predict` returns, a column for each target."""
        return np.column_stack([part.predictions(own) for part, own in self._scores_of(raw)])

    def probabilities(self, raw: FloatArray) -> list[FloatArray]:
        """Of each label, the probabilities of its classes."""
        return [part.probabilities(own) for part, own in self._scores_of(raw)]

    def most_probable(self, raw: FloatArray) -> CodeArray:
        """The number of the most probable class of each label, a column for each."""
        return np.column_stack([part.most_probable(own) for part, own in self._scores_of(raw)])

    def link(self, predictions: FloatArray) -> FloatArray:
        """From predictions of numbers, one for all targets or one for each, to raw predictions."""
        shape = len(predictions), len(self.parts)
        return np.column_stack(
            [
                part.link(own)
                for part, own in zip(self.parts, np.broadcast_to(predictions, shape).T, strict=True)
            ]
        )

    def _scores_of(self, raw: FloatArray) -> Iterator[tuple[Any, FloatArray]]:
        """Each part, and its column of raw predictions, or none."""
        begin = 0
        for part in self.parts:
            yield part, raw[:, begin : begin + part.n_outputs]
            begin += part.n_outputs

    def _with_scores(self, raw: FloatArray) -> Iterator[tuple[int, Any, FloatArray]]:
        """The same for targets that have a score, with their places."""
        for place, (part, own) in enumerate(self._scores_of(raw)):
            if part.n_outputs:
                yield place, part, own
