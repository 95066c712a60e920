"""What is to be predicted: labels become codes, numbers become float64, and both are checked row by row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from coterie._typing import AnyArray, ClassWeight, FloatArray, Task
from coterie._user_warnings import warn_user
from coterie.data.frames import is_frame, is_series, series_values
from coterie.data.levels import is_missing, is_number, label_levels
from coterie.data.place import Place
from coterie.data.table import check_lengths, native_numbers, number_levels
from coterie.data.weight import class_weights_of_rows
from coterie.errors import CoterieError, InvalidInput, InvalidType

_ONE_DIMENSION = "a list or an array of one value for each row"
_USE_CLASSIFIER = "Convert y to numbers, or use the classifier for labels."


@dataclass(frozen=True)
class Target:
    """The target as the engine takes it.

    Attributes
    ----------
    task : "classification" or "regression"
    values : array of shape (n_rows,) or (n_rows, n_outputs)
        float64 numbers for regression, int32 class codes for classification.
    classes : sorted array of the labels, a list of them for several outputs, or None for regression
    row_weight : array of shape (n_rows,), or None
        What `class_weight` gives to each row.
    """

    task: Task
    values: AnyArray
    classes: AnyArray | list[AnyArray] | None = None
    row_weight: FloatArray | None = None

    @property
    def n_outputs(self) -> int:
        return 1 if self.values.ndim == 1 else int(self.values.shape[1])


def read_target(
    y: Any,
    *,
    task: Task,
    estimator_name: str,
    n_rows: int,
    class_weight: ClassWeight = None,
    weight: FloatArray | None = None,
    multi_output: bool = False,
) -> Target:
    """Read labels or numbers of any type.

    `weight` are the sample weights; class_weight="balanced" counts each row as often as they say.

    Examples
    --------
    >>> target = read_target(["no", "yes", "no"], task="classification", estimator_name="Tree", n_rows=3)
    >>> target.values, target.classes
    (array([0, 1, 0], dtype=int32), array(['no', 'yes'], dtype='<U3'))
    """
    if y is None:
        raise InvalidInput(
            f"This {estimator_name} estimator requires y to be passed, but the target y is None.",
            parameter="y",
            allowed="one value for each row",
        )
    array = _one_or_two_dimensions(_as_array(y), multi_output=multi_output)
    check_lengths(n_rows, len(array), parameter="y")
    if task == "regression":
        _refuse_missing_in_several(array, y)
        return Target(task, _numbers(array))
    if array.ndim == 1:
        outputs = [_classes(array)]
    else:
        outputs = [_classes_of_column(array, y, place) for place in range(array.shape[1])]
    codes, classes = [own for own, _ in outputs], [own for _, own in outputs]
    row_weight = None if class_weight is None else class_weights_of_rows(class_weight, codes, classes, weight)
    if array.ndim == 1:
        return Target(task, codes[0], classes[0], row_weight)
    return Target(task, np.stack(codes, axis=1), classes, row_weight)


def warn_of_one_class(classes: AnyArray | Sequence[AnyArray] | None) -> None:
    """Warn of a target, or one of several, that is the same in every row; None is one of numbers."""
    outputs = [] if classes is None else [classes] if isinstance(classes, np.ndarray) else list(classes)
    single = [place for place, own in enumerate(outputs) if len(own) == 1]
    if not single:
        return
    label = np.asarray(outputs[single[0]]).tolist()[0]
    where = "" if len(outputs) == 1 else f" in column {single[0]}"
    warn_user(
        f"y holds one class{where}, {label!r:.60}, in every row: there is nothing to learn, and every prediction will "
        "be that class. Look at how y was made, and which rows were chosen."
    )


def _as_array(y: Any) -> AnyArray:
    if type(y) is np.ndarray:
        return y
    if sparse.issparse(y):
        raise InvalidType(
            "Sparse data was passed for y, but dense data is required.",
            parameter="y",
            received=type(y).__name__,
            allowed=_ONE_DIMENSION,
            hint="Use y.toarray().",
        )
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        row = int(np.argwhere(np.ma.getmaskarray(y))[0][0])
        raise InvalidInput(
            f"Input y contains NaN: the value of row {row} is masked.",
            parameter="y",
            received=np.ma.masked,
            allowed="one value for each row",
            hint="Drop these rows first.",
            row=row,
        )
    if is_series(y):
        return series_values(y)
    if is_frame(y):
        return _stacked_frame(y)
    if isinstance(y, str | bytes | dict | set):
        raise InvalidType(
            f"y should be a 1d array, got {type(y).__name__} ({y!r:.60}) instead.",
            parameter="y",
            received=y,
            allowed=_ONE_DIMENSION,
        )
    try:
        array = np.asarray(y)
        if array.dtype.kind in "US" and isinstance(y, Sequence):
            array = _keep_types(y, array)
    except (ValueError, TypeError) as error:
        raise InvalidInput(
            f"y should be a 1d array, got a nested {type(y).__name__} instead: {error}.",
            parameter="y",
            received=y,
            allowed=_ONE_DIMENSION,
        ) from error
    return array


def _keep_types(y: Sequence[Any], text: AnyArray) -> AnyArray:
    """numpy turns a list of text and None or numbers into text; look at what was really given."""
    array = np.asarray(y, dtype=object)
    return text if all(isinstance(label, str) for label in array.ravel().tolist()) else array


def _stacked_frame(y: Any) -> AnyArray:
    import narwhals.stable.v2 as nw

    columns = [
        series_values(nw.to_native(series)) for series in nw.from_native(y, eager_only=True).iter_columns()
    ]
    if not columns:
        raise InvalidInput(
            "y should be a 1d array, got a data frame without columns instead.",
            parameter="y",
            received=(len(y), 0),
            allowed=_ONE_DIMENSION,
        )
    return np.stack(columns, axis=1)


def _one_or_two_dimensions(array: AnyArray, *, multi_output: bool) -> AnyArray:
    if array.ndim == 1:
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        if not multi_output:
            warn_user(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
                "to (n_samples, ), for example using ravel().",
                DataConversionWarning,
            )
        return array[:, 0]
    if array.ndim == 2 and array.shape[1] > 1 and multi_output:
        return array
    raise InvalidInput(
        f"y should be a 1d array, got an array of shape {array.shape} instead.",
        parameter="y",
        received=array.shape,
        allowed=_ONE_DIMENSION,
        hint="One value per row is expected; fit one model per column." if array.ndim == 2 else None,
    )


def _classes_of_column(array: AnyArray, y: Any, place: int) -> tuple[AnyArray, AnyArray]:
    try:
        return _classes(array[:, place])
    except CoterieError as error:
        raise error.within(_column_name(y, place)) from error


def _refuse_missing_in_several(array: AnyArray, y: Any) -> None:
    """Say in which of several columns the first missing number is."""
    if array.ndim == 1 or array.dtype.kind not in "fO":
        return
    for place, column in enumerate(array.T):
        missing = (
            np.isnan(column)
            if column.dtype.kind == "f"
            else np.array([is_missing(value) for value in column], dtype=bool)
        )
        if missing.any():
            row, name = int(missing.argmax()), _column_name(y, place)
            raise InvalidInput(
                f"Input y contains NaN. The first one of {name} is in row {row}; drop the rows without a target.",
                parameter="y",
                received=float("nan"),
                allowed="finite numbers",
                row=row,
            )


def _column_name(y: Any, place: int) -> str:
    """What errors call a column of y: by its name in a frame, else by its number."""
    if not is_frame(y):
        return f"column {place} of y"
    import narwhals.stable.v2 as nw

    return f"column {nw.from_native(y, eager_only=True).columns[place]!r} of y"


def _numbers(array: AnyArray) -> FloatArray:
    if array.dtype.kind == "O":
        array = _object_numbers(array)
    if array.dtype.kind not in "biufc":
        what = "dates or durations" if array.dtype.kind in "mM" else "text"
        first = array.ravel()[:1].tolist()[0]
        raise InvalidInput(
            f"y holds {what} ({first!r:.60} in row 0), and regression needs numbers.",
            parameter="y",
            received=first,
            allowed="numbers",
            hint=_USE_CLASSIFIER,
            row=0,
        )
    numbers = native_numbers(array, where=Place("y")).astype(np.float64)
    _refuse_not_finite(numbers)
    return numbers


def _object_numbers(array: AnyArray) -> FloatArray:
    numbers = np.empty(array.shape)
    for place, value in np.ndenumerate(array):
        if is_missing(value):
            numbers[place] = np.nan
        elif is_number(value):
            numbers[place] = value
        elif isinstance(value, complex | np.complexfloating):
            raise InvalidInput(
                f"Complex data not supported: y holds {value!r} in row {place[0]}.",
                parameter="y",
                received=value,
                allowed="numbers",
                row=place[0],
            )
        else:
            raise InvalidType(
                f"y holds {value!r:.60} of type {type(value).__name__} in row {place[0]}; the argument must "
                "be a number.",
                parameter="y",
                received=value,
                allowed="numbers",
                hint=_USE_CLASSIFIER,
                row=place[0],
            )
    return numbers


def _refuse_not_finite(numbers: AnyArray) -> None:
    if np.isfinite(numbers).all():
        return
    place = tuple(np.argwhere(~np.isfinite(numbers))[0])
    row = int(place[0])
    if np.isnan(numbers[row]).any():
        raise InvalidInput(
            f"Input y contains NaN. The first one is in row {row}; drop the rows without a target.",
            parameter="y",
            received=float("nan"),
            allowed="finite numbers",
            row=row,
        )
    raise InvalidInput(
        "Input y contains infinity or a value too large for dtype('float64'). "
        f"The first one is in row {row}: {numbers[row]}.",
        parameter="y",
        received=float(numbers[place]),
        allowed="finite numbers",
        row=row,
    )


def _classes(array: AnyArray) -> tuple[AnyArray, AnyArray]:
    """int32 codes and the sorted classes, in the type the labels came in."""
    if array.dtype.kind == "O":
        return _classes_of_objects(array)
    if array.dtype.kind in "mM":
        classes, places = np.unique(array, return_inverse=True)
        if np.isnat(classes).any():
            raise _missing_label(int(np.argwhere(np.isnat(array))[0][0]))
        return places.astype(np.int32), classes
    if array.dtype.kind in "UT":
        codes, levels = label_levels(array.tolist(), where=Place("y"))
        if (codes < 0).any():
            raise _missing_label(int(np.argmax(codes < 0)))
        return codes, levels.astype(array.dtype)
    if array.dtype.kind not in "biufc":
        raise InvalidType(
            f"y has the type {array.dtype}: labels as bytes or records are not supported.",
            parameter="y",
            received=array.dtype,
            allowed="text or whole numbers",
            hint="Convert them to text or whole numbers.",
        )
    return _classes_of_numbers(array)


def _classes_of_numbers(array: AnyArray) -> tuple[AnyArray, AnyArray]:
    values = native_numbers(array, where=Place("y"))
    if values.dtype.kind == "f":
        _refuse_not_finite(values)
        if (values != np.floor(values)).any():
            row = int(np.argmax(values != np.floor(values)))
            raise InvalidInput(
                "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects "
                "discrete classes on a regression target with continuous values. "
                f"Row {row} of y is {values[row]}; use the regressor, or round y to classes.",
                parameter="y",
                received=float(values[row]),
                allowed="text or whole numbers",
                row=row,
            )
    codes, levels = number_levels(values)
    seen = np.zeros(len(levels), dtype=bool)
    seen[codes] = True
    lookup = np.cumsum(seen, dtype=np.int32) - 1
    return lookup[codes].astype(np.int32), levels[seen].astype(array.dtype.newbyteorder("="))


def _classes_of_objects(array: AnyArray) -> tuple[AnyArray, AnyArray]:
    labels = array.tolist()
    kinds = set(map(type, labels))
    if all(kind in (int, bool, float) for kind in kinds):
        return _classes_of_numbers(np.asarray(labels))
    codes, levels = label_levels(labels, where=Place("y"))
    if (codes < 0).any():
        raise _missing_label(int(np.argmax(codes < 0)))
    if all(isinstance(level, str) for level in levels):
        return codes, levels
    if all(is_number(level) for level in levels):
        return _classes_of_numbers(np.asarray([float(label) for label in labels]))
    listed = ", ".join(repr(level) for level in (levels[0], levels[-1]))
    raise InvalidInput(
        f"Unknown label type: unknown. y mixes labels of different types ({listed}) or holds objects that "
        "are neither text nor numbers; classes need one type.",
        parameter="y",
        received=[levels[0], levels[-1]],
        allowed="text or whole numbers",
        hint="Convert y with y.astype(str), for example.",
    )


def _missing_label(row: int) -> InvalidInput:
    return InvalidInput(
        f"Input y contains NaN. The label of row {row} is missing; drop the rows without a label.",
        parameter="y",
        allowed="a label for each row",
        row=row,
    )
