"""Collections of Dask: what they are, their partitions, and predictions of them that are computed when needed."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.errors import InvalidInput, InvalidType

_KINDS = "a dask.dataframe DataFrame or Series, or a dask.array Array"


def is_collection(X: Any) -> bool:
    """Whether this is a collection of Dask."""
    return type(X).__module__.startswith("dask.")


def _kind(collection: Any) -> str:
    if hasattr(collection, "map_partitions") and hasattr(collection, "_meta"):
        return "frame"
    return "array" if hasattr(collection, "map_blocks") and hasattr(collection, "chunks") else "other"


def partitions_of(collection: Any, parameter: str) -> list[Any]:
    """Its partitions in the order of the rows, as delayed objects."""
    kind = _kind(collection)
    if kind == "frame":
        return list(collection.to_delayed())
    if kind == "array":
        if collection.ndim > 1 and collection.numblocks[1] > 1:
            collection = collection.rechunk({1: -1})
        return list(collection.to_delayed().ravel())
    raise InvalidType.expecting(
        f"{parameter} is a {type(collection).__name__}", _KINDS, parameter, type(collection).__name__
    )


def computed(collection: Any) -> Any:
    """The whole collection, in memory."""
    return collection.compute()


def predict_collection(method: Callable[..., Any], model: Any, X: Any, *args: Any, **options: Any) -> Any:
    """What a method predicts, partition by partition, as a collection: a series or a frame with the index and the
    divisions of a frame, an array with the chunks of an array.
    """
    given = {name: value for name, value in options.items() if is_collection(value)}
    plain = {name: value for name, value in options.items() if name not in given}
    example = _example(method, model, X, args, {**plain, **dict.fromkeys(given)})
    if _kind(X) == "frame":
        return _predict_frame(method, model, X, args, plain, given, example)
    if _kind(X) == "array" and not given:
        return _predict_array(method, model, X, args, plain, example)
    if given:
        raise InvalidInput(
            f"{', '.join(given)} cannot be a collection beside an array.",
            parameter=next(iter(given)),
            allowed="a frame and a series of Dask",
            hint="Give X as a frame: dask.dataframe.from_dask_array(X).",
        )
    raise InvalidType.expecting(f"X is a {type(X).__name__}", _KINDS, "X", type(X).__name__)


def _predict_frame(
    method: Any,
    model: Any,
    X: Any,
    args: Any,
    plain: dict[str, Any],
    given: dict[str, Any],
    example: AnyArray,
) -> Any:
    import pandas as pd

    columns = None if example.ndim == 1 else _columns_of(model, example.shape[1])
    # The type that pandas gives to what is predicted is not always that of the array.
    found = pd.Series(example) if columns is None else pd.DataFrame(example, columns=columns)
    empty, meta = example[:0], found[:0].set_axis(X._meta.index[:0], axis=0)
    names = list(given)
    return X.map_partitions(
        _frame_part,
        *given.values(),
        method=method,
        model=model,
        args=args,
        options=plain,
        names=names,
        empty=empty,
        columns=columns,
        dtype=meta.dtype if columns is None else None,
        meta=meta,
    )


def _frame_part(
    part: Any,
    *others: Any,
    method: Any,
    model: Any,
    args: Any,
    options: dict[str, Any],
    names: list[str],
    empty: AnyArray,
    columns: Any,
    dtype: Any,
) -> Any:
    import pandas as pd

    found = empty
    if len(part):
        found = np.asarray(method(model, part, *args, **options, **dict(zip(names, others, strict=True))))
    if columns is None:
        return pd.Series(found, index=part.index, dtype=dtype)
    return pd.DataFrame(found, index=part.index, columns=columns)


def _predict_array(
    method: Any, model: Any, X: Any, args: Any, plain: dict[str, Any], example: AnyArray
) -> Any:
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    empty = example[:0]
    where = {"drop_axis": 1} if example.ndim == 1 else {"chunks": (X.chunks[0], (example.shape[1],))}
    return X.map_blocks(
        _array_part,
        method=method,
        model=model,
        args=args,
        options=plain,
        empty=empty,
        dtype=example.dtype,
        meta=empty,
        **where,
    )


def _array_part(
    block: AnyArray, method: Any, model: Any, args: Any, options: dict[str, Any], empty: AnyArray
) -> AnyArray:
    return np.asarray(method(model, block, *args, **options)) if len(block) else empty


def _columns_of(model: Any, n_columns: int) -> Any:
    classes = getattr(model, "classes_", None)
    if isinstance(classes, np.ndarray) and len(classes) == n_columns:
        return list(classes)
    return list(range(n_columns))


def _example(method: Any, model: Any, X: Any, args: Any, options: dict[str, Any]) -> AnyArray:
    """What the method predicts for a row of nothing in particular: its type and shape."""
    if hasattr(model, "encoder_") and hasattr(model, "schema_"):
        row = _row_of(model)
    elif _kind(X) == "frame":
        from dask.dataframe.utils import meta_nonempty

        row = meta_nonempty(X._meta)
    else:
        row = np.zeros((1, X.shape[1]), dtype=X.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = method(model, row, *args, **options)
    if isinstance(found, list):
        raise InvalidInput(
            f"{method.__name__} gives {len(found)} arrays, one for each target, and a lazy prediction is one.",
            parameter="X",
            received=type(X).__name__,
            allowed="a table in memory",
            hint=f"X.map_partitions(lambda part: model.{method.__name__}(part)[0]) is about the first target.",
        )
    return np.asarray(found)


def _row_of(model: Any) -> Any:
    """A row that fit could have seen."""
    names = model.schema_.names
    columns = []
    for feature in range(model.schema_.n_features):
        levels = model.encoder_.levels(feature)
        columns.append([0.0] if levels is None or len(levels) == 0 else [levels[0]])
    if names is None:
        return np.array(
            [column[0] for column in columns], dtype=object if model.encoder_.n_levels.any() else float
        )[None]
    return dict(zip(names, columns, strict=True))
