"""Columns of classes, put in one order."""

import numpy as np

from coterie.data.class_columns import columns_by_class

CLASSES = np.array(["a", "b", "c"])


def test_columns_follow_the_classes_and_unknown_classes_are_filled() -> None:
    values = np.array([[0.25, 0.75], [1.0, 0.0]])

    assert columns_by_class(values, ["c", "a"], CLASSES).tolist() == [[0.75, 0.0, 0.25], [0.0, 0.0, 1.0]]


def test_each_row_may_have_a_number_of_its_own_for_classes_it_does_not_know() -> None:
    values = np.array([[1.0, 2.0], [5.0, 4.0]])

    filled = columns_by_class(values, ["a", "b"], CLASSES, fill=values.min(axis=1, keepdims=True))

    assert filled.tolist() == [[1.0, 2.0, 1.0], [5.0, 4.0, 4.0]]
