"""The inputs of an ONNX graph, and the features that trees see."""

from collections.abc import Callable
from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.export.readers.features import ALMOST_ZERO
from coterie.export.writers.onnx_graph import Graph
from coterie.trees.column_readings import (
    LookUp,
    PairLookUp,
    Reading,
    Readings,
    Values,
    WholeNumbers,
    WithoutNumber,
    WithoutZero,
)


def write_features(graph: Graph, readings: Readings, nominal: set[int], dtype: Any) -> tuple[str, str]:
    """The matrix of features in double precision, and the name of an input to count rows by.

    One input X takes all columns if none of them holds text; otherwise each has an input of its own, named after it.
    The codes of features in `nominal` are counted from 1.
    """
    if not readings.text:
        matrix = graph.input("X", dtype, len(readings.names))
        doubles = _double(graph, matrix, dtype)
        if readings.are_plain and len(readings.features) == len(readings.names):
            return doubles, matrix
        columns = {
            column: graph.add("Gather", doubles, graph.constant([column], np.int64), axis=1)
            for column in range(len(readings.names))
        }
        return ColumnWriter(graph, columns).matrix(readings.features, nominal), matrix
    columns = {
        column: graph.input(name, str if column in readings.text else dtype, 1)
        for column, name in enumerate(readings.names)
    }
    counted = columns[0]
    for column in sorted(columns.keys() - readings.text):
        columns[column] = _double(graph, columns[column], dtype)
    return ColumnWriter(graph, columns).matrix(readings.features, nominal), counted


class ColumnWriter:
    """Writes readings, each only once."""

    def __init__(self, graph: Graph, columns: dict[int, str]) -> None:
        self._graph = graph
        self._columns = columns
        self._written: dict[int, str] = {}

    def matrix(self, features: Any, nominal: set[int]) -> str:
        parts = []
        for place, reading in enumerate(features):
            part = self.write(reading)
            parts.append(
                self._graph.add("Add", part, self._graph.constant(1.0)) if place in nominal else part
            )
        return self._graph.add("Concat", *parts, axis=1)

    def write(self, reading: Reading) -> str:
        if isinstance(reading, Values):
            return self._columns[reading.column]
        if id(reading) not in self._written:
            self._written[id(reading)] = _WAYS[type(reading)](self, reading)
        return self._written[id(reading)]

    def look_up(self, reading: LookUp) -> str:
        return self._labelled(self.write(reading.source), reading.keys, reading.numbers, reading.default)

    def pair_look_up(self, reading: PairLookUp) -> str:
        graph = self._graph
        above = graph.add("Mul", self.look_up(reading.first), graph.constant(float(reading.width)))
        key = graph.add("Add", above, self.look_up(reading.second))
        return self._labelled(key, reading.keys, reading.numbers, reading.default)

    def without_number(self, reading: WithoutNumber) -> str:
        graph, source = self._graph, self.write(reading.source)
        single = graph.cast(source, np.float32)
        is_missing = graph.add("Equal", single, graph.constant(reading.number, np.float32))
        return graph.add("Where", is_missing, graph.constant(np.nan), source)

    def without_zero(self, reading: WithoutZero) -> str:
        graph, source = self._graph, self.write(reading.source)
        is_zero = graph.add("LessOrEqual", graph.add("Abs", source), graph.constant(ALMOST_ZERO))
        return graph.add("Where", is_zero, graph.constant(np.nan), source)

    def whole_numbers(self, reading: WholeNumbers) -> str:
        graph, source = self._graph, self.write(reading.source)
        if reading.single:
            whole = graph.cast(graph.add("Floor", graph.cast(source, np.float32)), np.float64)
        else:
            negative = graph.add("Less", source, graph.constant(0.0))
            whole = graph.add("Where", negative, graph.add("Ceil", source), graph.add("Floor", source))
        codes = self._labelled(whole, reading.keys, reading.codes, 0.0)
        return graph.add("Where", graph.add("IsNaN", source), graph.constant(np.nan), codes)

    def _labelled(
        self, source: str, keys: list[str] | FloatArray, numbers: FloatArray, default: float
    ) -> str:
        listed = np.array(keys, dtype=object) if isinstance(keys, list) else keys
        return self._graph.add(
            "LabelEncoder",
            source,
            ml=True,
            keys_tensor=listed,
            values_tensor=numbers,
            default_tensor=np.array([default]),
        )


_WAYS: dict[type, Callable[[ColumnWriter, Any], str]] = {
    LookUp: ColumnWriter.look_up,
    PairLookUp: ColumnWriter.pair_look_up,
    WithoutNumber: ColumnWriter.without_number,
    WithoutZero: ColumnWriter.without_zero,
    WholeNumbers: ColumnWriter.whole_numbers,
}


def _double(graph: Graph, source: str, dtype: Any) -> str:
    return source if np.dtype(dtype) == np.float64 else graph.cast(source, np.float64)
