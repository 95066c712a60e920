"""How an imported model turns columns into features, as readings that another format can hold."""

from typing import Any

import numpy as np

from coterie.data.levels import is_number
from coterie.export.readers.category_sets import Coding
from coterie.export.readers.features import ZeroIsMissing
from coterie.export.readers.table_reader import TableReader
from coterie.trees.column_readings import (
    Reading,
    Readings,
    Values,
    WholeNumbers,
    WithoutNumber,
    WithoutZero,
    column_names,
    look_up,
    text_or_numbers,
)


def readings_of_imported(reader: TableReader) -> Readings:
    """How an imported model reads its columns; categories whose labels it does not know are numbers."""
    names = column_names(reader.schema)
    columns: list[Reading] = [Values(column) for column in range(len(names))]
    text = set()
    for column, labels in reader.labels.by_column.items():
        has_text = not all(is_number(label) for label in labels)
        if has_text or reader.labels.for_numbers:
            keys = text_or_numbers(np.array(list(labels), dtype=object), names[column])
            columns[column] = look_up(column, keys, np.arange(len(labels)))
            if has_text:
                text.add(column)
    if reader.missing is not None:
        columns = [WithoutNumber(own, reader.missing) for own in columns]
    features = [_imported_reading(columns[each.column], each.reading) for each in reader.features]
    return Readings(names, frozenset(text), features)


def _imported_reading(source: Reading, reading: Any) -> Reading:
    if isinstance(reading, ZeroIsMissing):
        return WithoutZero(source)
    if isinstance(reading, Coding):
        codes = reading.codes.astype(np.float64)
        return WholeNumbers(source, np.asarray(reading.categories, np.float64), codes, reading.single)
    return source
