"""`eval_set=`: rows of their own to measure on, so that none of the table's need to be left out."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.data.encoding import Encoded
from coterie.data.prepare import TrainingData, prepare_prediction
from coterie.data.streaming.gathered import gathered_rows
from coterie.data.streaming.scan import Scan
from coterie.data.target import read_target
from coterie.data.weight import combined_weight, read_weight, weights_by_class
from coterie.errors import CoterieError, InvalidInput, InvalidType


@dataclass(frozen=True)
class EvalSet:
    """Rows to measure on, as the model sees them.

    Attributes
    ----------
    X : the table as it came
    encoded : its features, statistics included
    target : numbers, or codes of the model's classes
    weight : what each row counts in the loss, class weights included
    given_weight : what each row counts in a score
    offset : shape (n_rows, n_outputs), or None
    """

    X: Any
    encoded: Encoded
    target: AnyArray
    weight: FloatArray | None
    given_weight: FloatArray | None
    offset: FloatArray | None


def named_eval_sets(eval_set: Any) -> dict[str, Any]:
    """Several sets by name, in their order: of a list they are called eval_0, eval_1 and so on.

    Examples
    --------
    >>> named_eval_sets([("X", "y"), ("Z", "z")])
    {'eval_0': ('X', 'y'), 'eval_1': ('Z', 'z')}
    >>> named_eval_sets({"new": ("X", "y")}), named_eval_sets(None)
    ({'new': ('X', 'y')}, {})
    """
    if eval_set is None:
        return {}
    if isinstance(eval_set, Mapping):
        wrong = next((name for name in eval_set if not isinstance(name, str) or not name.strip()), None)
        if not eval_set or wrong is not None:
            raise InvalidType.expecting(
                f"eval_set={in_short(eval_set)}", "a dict of sets by their names", "eval_set", eval_set
            )
        return dict(eval_set)
    if isinstance(eval_set, list) and eval_set and all(isinstance(own, tuple | Scan) for own in eval_set):
        return {f"eval_{number}": own for number, own in enumerate(eval_set)}
    return {"eval_0": eval_set}


def read_eval_set(
    eval_set: Any,
    estimator: Any,
    train: TrainingData,
    *,
    needs_offset: bool,
    encode: Callable[[Any, Any], Encoded] = prepare_prediction,
) -> EvalSet | None:
    """(X, y), (X, y, weight), (X, y, weight, offset) or a scan, or a list of one of them; None stays None.

    The estimator knows its schema and its classes already, and its statistics and how to read offsets if it has any.
    """
    if eval_set is None:
        return None
    X, y, given_weight, offset, encoded = _pieces_of_scan(eval_set, estimator) or (*_pieces(eval_set), None)
    if needs_offset and offset is None:
        raise InvalidInput(
            "fit was given an offset, and eval_set was not: its rows would be measured from another start.",
            parameter="eval_set",
            allowed="(X, y, weight, offset)",
            hint="Give eval_set=(X, y, weight, offset), where weight may be None.",
        )
    with _named():
        encoded = encode(estimator, X) if encoded is None else encoded
        weight = read_weight(given_weight, encoded.n_rows)
        target = read_target(
            y,
            task=train.target.task,
            estimator_name=type(estimator).__name__,
            n_rows=encoded.n_rows,
            multi_output=train.target.n_outputs > 1,
        )
        if target.n_outputs != train.target.n_outputs:
            allowed = f"{train.target.n_outputs} columns, one for each target of fit"
            raise InvalidInput.expecting(
                f"y has the shape {target.values.shape}", allowed, "y", target.values.shape
            )
        if isinstance(target.classes, list):
            values: AnyArray = np.column_stack(
                [
                    _known_codes(own[codes], known, f"column {place} of y")
                    for place, (own, codes, known) in enumerate(
                        zip(target.classes, target.values.T, estimator.classes_, strict=True)
                    )
                ]
            )
            total = combined_weight(
                weight, _class_weight(train, values, getattr(estimator, "class_weight", None))
            )
        elif target.task == "classification":
            values = _known_codes(np.asarray(target.classes)[target.values], estimator.classes_)
            total = combined_weight(
                weight, _class_weight(train, values, getattr(estimator, "class_weight", None))
            )
        else:
            values, total = target.values, weight
            estimator._loss().check_targets(values)
        own_offset = _offset_of(estimator, offset, encoded.n_rows)
        statistics = getattr(estimator, "statistics_", None)
        if statistics:
            encoded = statistics.extend(encoded)
    return EvalSet(X, encoded, values, total, weight, own_offset)


def _pieces_of_scan(eval_set: Any, estimator: Any) -> tuple[Any, Any, Any, Any, Encoded] | None:
    scan = eval_set[0] if isinstance(eval_set, list | tuple) and len(eval_set) == 1 else eval_set
    if not isinstance(scan, Scan):
        return None
    with _named():
        rows = gathered_rows(scan, estimator)
    return None, rows.target, rows.weight, rows.offset, rows.encoded


def _pieces(eval_set: Any) -> tuple[Any, Any, Any, Any]:
    pieces = eval_set
    if isinstance(eval_set, list) and len(eval_set) == 1:
        pieces = eval_set[0]
    elif (
        isinstance(eval_set, list) and len(eval_set) > 1 and all(isinstance(each, tuple) for each in eval_set)
    ):
        raise InvalidInput(
            f"eval_set is a list of {len(eval_set)} sets; expected one.",
            parameter="eval_set",
            received=len(eval_set),
            allowed="one set",
            hint="Only one can decide when to stop; look at others with staged_predict after the fit.",
        )
    if not isinstance(pieces, tuple) or not 2 <= len(pieces) <= 4:
        allowed = "a tuple (X, y), (X, y, weight) or (X, y, weight, offset), or a scan"
        raise InvalidType.expecting(f"eval_set={in_short(eval_set)}", allowed, "eval_set", eval_set)
    X, y, weight, offset = (*pieces, None, None)[:4]
    return X, y, weight, offset


def _offset_of(estimator: Any, offset: Any, n_rows: int) -> FloatArray | None:
    if offset is None:
        return None
    if not hasattr(estimator, "_read_offset"):
        raise InvalidInput(
            f"an offset was given, and {type(estimator).__name__} has none.",
            parameter="offset",
            received=offset,
            allowed="None",
            hint="Give (X, y) or (X, y, weight).",
        )
    own: FloatArray | None = estimator._read_offset(offset, n_rows)
    return own


@contextmanager
def _named() -> Iterator[None]:
    """Errors about X, y and weights name those of eval_set."""
    try:
        yield
    except CoterieError as error:
        raise error.within("eval_set") from error


def _known_codes(labels: AnyArray, classes: AnyArray, what: str = "y") -> AnyArray:
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    codes = [code_of.get(label, -1) for label in labels.tolist()]
    if -1 in codes:
        row = codes.index(-1)
        allowed = in_short(classes.tolist())
        raise InvalidInput(
            f"{what} holds the label {labels.tolist()[row]!r} in row {row}, which fit has not seen; its classes are "
            f"{allowed}.",
            parameter="y",
            received=labels.tolist()[row],
            allowed=allowed,
            hint="Drop such rows: the model cannot predict these classes.",
            row=row,
        )
    return np.array(codes, dtype=np.int32)


def _class_weight(train: TrainingData, codes: AnyArray, class_weight: Any) -> FloatArray | None:
    """What `class_weight` gave to rows of the same class in training."""
    if train.target.row_weight is None:
        return None
    known = train.target
    if isinstance(known.classes, list):
        given = weights_by_class(class_weight, list(known.values.T), known.classes, train.sample_weight)
        return np.asarray(
            np.prod([own[code] for own, code in zip(given, codes.T, strict=True)], axis=0), dtype=np.float64
        )
    by_class = np.zeros(int(train.target.values.max()) + 1)
    by_class[train.target.values] = train.target.row_weight
    return by_class[codes]
