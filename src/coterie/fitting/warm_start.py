"""`warm_start=`: a fit that continues the last one.

The boosters are made anew from the table and the seed of the first fit; the rounds that are known are added to their
scores again (`KnownRounds`), and growing goes on after them. Nothing but the model is needed for that, so it works
after pickling, and the result is that of one longer fit. For the same reason the table has to be the same: a *trace*
of each fit says what it was about.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._params import in_short, is_auto
from coterie._storage import storable
from coterie._typing import AnyArray
from coterie._value_types import ANY, COUNT, TEXT, dict_of
from coterie.data.prepare import TrainingData
from coterie.errors import InvalidInput, InvalidParameter, SchemaMismatch

__all__ = [
    "FitSignature",
    "check_same",
    "check_same_data",
    "check_same_settings",
    "check_warm_start",
    "known_rounds",
    "left_as_it_was",
    "trace_of",
]

# With another value the known trees would not be the first trees of the longer fit, or would answer something else.
_SETTLED = (
    "loss",
    "quantile",
    "n_bags",
    "growth",
    "init",
    "target_statistics",
    "early_stopping",
    "validation_fraction",
    "holdout",
)
_ROWS_COMPARED = 250


@storable("Trace", {"seed": COUNT, "settled": dict_of(TEXT, ANY), "digests": dict_of(TEXT, TEXT)})
@dataclass(frozen=True)
class FitSignature:
    """What a fit was about: its seed, the parameters that its continuation must share, and digests of its data."""

    seed: int
    settled: dict[str, Any]
    digests: dict[str, str]


def check_warm_start(estimator: Any) -> None:
    """Refuse parameters that leave nothing to continue."""
    if not estimator.warm_start:
        return
    if is_auto(estimator.n_estimators):
        raise InvalidParameter(
            "warm_start=True needs a number as n_estimators: with n_estimators='auto' a fit ends when the rows left "
            "out gain no more, and there is nothing to continue."
        )
    if estimator.refit:
        raise InvalidParameter(
            "warm_start=True cannot be combined with refit=True: the trees that were kept have seen all rows, so the "
            "rows left out could no longer say when to stop. Set one of them to False."
        )


def trace_of(
    estimator: Any,
    train: TrainingData,
    seed: int,
    *,
    offset: AnyArray | None = None,
    groups: AnyArray | None = None,
    has_eval_set: bool = False,
) -> FitSignature:
    """The trace of a fit; of X only some rows are looked at."""
    encoded = train.encoded
    step = max(1, encoded.n_rows // _ROWS_COMPARED)
    columns = encoded.values if isinstance(encoded.values, list) else [encoded.values]
    digests = {
        "X": _digest(*(column[::step] for column in columns)) + f" {encoded.n_rows}",
        "y": _digest(train.target.values),
        "sample_weight or class_weight": _digest(train.weight),
        "offset": _digest(offset),
        "groups": _digest(groups),
        "eval_set, which was given once only": str(has_eval_set),
    }
    settled = {name: getattr(estimator, name) for name in _SETTLED if hasattr(estimator, name)}
    return FitSignature(seed, settled, digests)


def check_same(earlier: FitSignature, new: FitSignature, before: dict[str, Any], estimator: Any) -> None:
    """Refuse to continue a fit that was about something else; `before` is what the estimator held then."""
    if before["n_estimators_"] > estimator.n_estimators:
        raise InvalidParameter(
            f"n_estimators={estimator.n_estimators} is less than the {before['n_estimators_']} rounds of the last fit, "
            "which warm_start=True continues. Choose more, or set warm_start=False to begin anew."
        )
    if before["n_bags_"] > 1 and "_as_grown" not in before:
        raise InvalidParameter(
            f"warm_start=True was not set when the {before['n_bags_']} boosters were fitted, and their mean cannot be "
            "taken apart to the last bit. Set warm_start=True before the first fit."
        )
    check_same_settings(earlier, new, "Or set warm_start=False to begin anew.")
    check_same_data(earlier, new, before, estimator, _INSTEAD)


def check_same_settings(earlier: FitSignature, new: FitSignature, instead: str) -> None:
    """Refuse to continue with other parameters of those that are settled; `instead` says what else to do."""
    for name, value in new.settled.items():
        if not _same(earlier.settled[name], value):
            raise InvalidParameter(
                f"{name}={in_short(value)} cannot continue a fit with {name}={in_short(earlier.settled[name])}: its "
                f"rounds would not be the first rounds of this one. Set it back. {instead}"
            )


def check_same_data(
    earlier: FitSignature, new: FitSignature, before: dict[str, Any], estimator: Any, instead: str
) -> None:
    """Refuse to continue on other columns, classes or rows; `instead` says what else to do."""
    if estimator.schema_ != before["schema_"]:
        raise SchemaMismatch(
            "warm_start=True continues on the columns of the last fit, and X has others: "
            f"{_columns(estimator.schema_)} instead of {_columns(before['schema_'])}. {instead}"
        )
    classes, known = (_listed(held.get("classes_", [])) for held in (vars(estimator), before))
    if classes != known:
        raise InvalidInput(
            f"warm_start=True continues with the classes of the last fit, {in_short(known)}; y has "
            f"{in_short(classes)}. {instead}"
        )
    for name, digest in new.digests.items():
        if digest != earlier.digests[name]:
            raise InvalidInput(
                f"warm_start=True continues on the data of the last fit, and this fit differs in {name}. {instead}"
            )


_INSTEAD = (
    "To go on with other data, start a new model from this one: init=FrozenEstimator(model). To begin anew, set "
    "warm_start=False."
)


def known_rounds(before: dict[str, Any], n_outputs: int) -> list[list[list[Any]]]:
    """The trees of each booster of a fit, round by round; its forest holds the rounds one after the other."""
    rounds = before["rounds_"]
    forest = before["forest_"] if len(rounds) == 1 else before["_as_grown"]
    boosters: list[list[list[Any]]] = [[] for _ in rounds]
    place = 0
    for number in range(int(max(rounds))):
        for booster, n_rounds in zip(boosters, rounds, strict=True):
            if number < n_rounds:
                booster.append([forest.tree(place + output) for output in range(n_outputs)])
                place += n_outputs
    return boosters


@contextmanager
def left_as_it_was(estimator: Any) -> Iterator[dict[str, Any]]:
    """What the estimator holds, to which it is set back if the continuation is refused or interrupted."""
    before = dict(vars(estimator))
    try:
        yield before
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def _digest(*arrays: AnyArray | None) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        if array is not None:
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other) or repr(one) == repr(other)
    except ValueError:  # arrays
        return np.array_equal(one, other)


def _listed(classes: Any) -> list[Any]:
    """As Python lists; with several outputs, one for each."""
    if isinstance(classes, list):
        return [np.asarray(own).tolist() for own in classes]
    return list(np.asarray(classes).tolist())


def _columns(schema: Any) -> str:
    named = f"{schema.n_features} columns" if schema.names is None else in_short(list(schema.names))
    return f"{named} ({', '.join(sorted(set(schema.kinds)))})"
