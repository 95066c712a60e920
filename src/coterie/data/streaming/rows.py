"""Columns that are no features: targets, weights, groups and offsets, gathered batch by batch as arrays in memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._typing import AnyArray, ClassWeight, CodeArray, FloatArray, Task
from coterie.data.groups import read_groups
from coterie.data.levels import label_levels
from coterie.data.place import Place
from coterie.data.target import Target, read_target
from coterie.data.weight import class_weights_of_rows


class GatheredColumn:
    """One column of all batches: numbers as they came, labels as codes of those seen so far."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._parts: list[AnyArray] = []
        self._codes: dict[Any, int] = {}
        self._is_coded: bool | None = None
        self._text: np.dtype[Any] | None = None  # of arrays of text, which keep their type

    def append(self, values: AnyArray) -> AnyArray:
        """Take the rows of a batch; what is kept of them."""
        coded = values.dtype.kind in "OUST"
        if self._is_coded is None:
            self._is_coded = coded
        elif self._is_coded != coded:  # labels in one batch, numbers in another: labels they are
            values = values.astype(object)
            self._code_all()
        if values.dtype.kind == "U":
            self._text = values.dtype if self._text is None else np.result_type(self._text, values.dtype)
        kept = self._coded(values) if self._is_coded else values
        self._parts.append(kept)
        self.n_rows += len(values)
        return kept

    def same_as(self, values: AnyArray, first_row: int, gathered: AnyArray) -> bool:
        """Whether a later pass finds the same rows as `gathered`, which `array` returned, has there."""
        if first_row + len(values) > len(gathered):
            return False
        if self._is_coded:
            values = np.array([self._codes.get(value, -1) for value in values.tolist()], dtype=np.int32)
        before = gathered[first_row : first_row + len(values)]
        equal_nan = values.dtype.kind == "f" and before.dtype.kind == "f"
        return bool(np.array_equal(values, before, equal_nan=equal_nan))

    def array(self) -> AnyArray:
        """All rows: numbers, or codes of `labels`. Batches are given up one by one on the way."""
        if not self._parts:
            return np.empty(0)
        whole = np.empty(self.n_rows, dtype=np.result_type(*{part.dtype for part in self._parts}))
        begin = 0
        for place, part in enumerate(self._parts):
            whole[begin : begin + len(part)] = part
            begin += len(part)
            self._parts[place] = part[:0]
        self._parts = [whole]
        return whole

    @property
    def labels(self) -> AnyArray | None:
        """The labels in the order in which they were seen; None for numbers."""
        if not self._is_coded:
            return None
        labels = np.empty(len(self._codes), dtype=object)
        labels[:] = list(self._codes)
        return labels if self._text is None else labels.astype(self._text)

    def _coded(self, values: AnyArray) -> CodeArray:
        codes, levels = label_levels(values.tolist(), where=Place("y"))
        lookup = [self._codes.setdefault(level, len(self._codes)) for level in levels.tolist()]
        return np.array([*lookup, -1], dtype=np.int32)[codes]

    def _code_all(self) -> None:
        self._is_coded = True
        self._parts = [self._coded(part.astype(object)) for part in self._parts]


def gathered_target(
    columns: Sequence[GatheredColumn],
    *,
    task: Task,
    estimator_name: str,
    class_weight: ClassWeight,
    weight: FloatArray | None,
) -> Target:
    """The target as `read_target` reads that of a table in memory."""
    arrays = [column.array() for column in columns]
    options: dict[str, Any] = {
        "task": task,
        "estimator_name": estimator_name,
        "multi_output": len(arrays) > 1,
    }
    labels = columns[0].labels if len(columns) == 1 else None
    if labels is None:
        y = (
            arrays[0]
            if len(arrays) == 1
            else np.stack([_as_labels(*each) for each in zip(arrays, columns, strict=True)], 1)
        )
        return read_target(y, n_rows=len(y), class_weight=class_weight, weight=weight, **options)
    found = read_target(labels, n_rows=len(labels), **options)
    if task == "regression":
        return Target(task, found.values[arrays[0]])
    codes, classes = found.values[arrays[0]], found.classes
    assert isinstance(classes, np.ndarray)
    by_class = (
        None if class_weight is None else class_weights_of_rows(class_weight, [codes], [classes], weight)
    )
    return Target(task, codes, classes, by_class)


def gathered_groups(column: GatheredColumn) -> AnyArray:
    """The number of each row's group, as `read_groups` numbers those of a list in memory."""
    array, labels = column.array(), column.labels
    return read_groups(array, len(array)) if labels is None else read_groups(labels, len(labels))[array]


def _as_labels(array: AnyArray, column: GatheredColumn) -> AnyArray:
    labels = column.labels
    return array if labels is None else labels[array]
