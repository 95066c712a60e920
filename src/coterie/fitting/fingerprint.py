"""What a fit is about, as texts by name, so that two fits can be compared and their differences named.

Parameters are texts as they would be printed, data are digests of every value. Neither depends on where things
are in memory, so that a fit in another process has the same fingerprint.
"""

import functools
import hashlib
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy import sparse

from coterie import _engine
from coterie._params import in_short
from coterie.data.prepare import TrainingData, read_table
from coterie.fitting.eval_set import EvalSet

# They change how a fit is done, and not what comes out.
_NO_MATTER = {"checkpoint", "n_jobs", "verbose", "warm_start"}
_LONGEST = 200


def fit_fingerprint(estimator: Any) -> dict[str, str]:
    """The class, its parameters, and the versions that the last bits may depend on."""
    params = estimator.get_params(deep=False)
    about = {f"{package}'s version": version(package) for package in ("coterie", "numpy", "scikit-learn")}
    about["the engine's revision"] = str(_engine.REVISION)
    about["the class"] = type(estimator).__name__
    for name in sorted(set(params) - _NO_MATTER):
        value = params[name]
        if name == "random_state" and not isinstance(value, int | np.integer):
            value = "not a number"  # the seed was drawn, and the checkpoint knows it
        about[name] = _as_text(value)
    return about


def data_fingerprint(train: TrainingData, **others: Any) -> dict[str, str]:
    """The table, the target, weights, and whatever else the rows came with."""
    encoded = train.encoded
    about = {
        "the columns of X": digest_of([train.schema, train.encoder]),
        "X": digest_of([encoded.n_rows, encoded.values, encoded.fine_codes]),
        "y": digest_of([train.target.values, train.target.classes]),
        "sample_weight or class_weight": digest_of(train.weight),
    }
    for name, value in others.items():
        if isinstance(value, EvalSet):
            X: Any = value.encoded
            if value.encoded.n_features == 0:  # learners see it as it is
                X = value.X if sparse.issparse(value.X) else read_table(value.X)
            value = [X, value.target, value.weight, value.offset]
        about[name] = digest_of(value)
    return about


def differences(known: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """In words: what is different here from what is known; digests are not shown."""
    found = []
    for name in sorted(set(known) | set(new)):
        one, other = known.get(name), new.get(name)
        if one == other:
            continue
        texts = [text for text in (one, other) if text is not None]
        shown = len(texts) == 2 and not all(text.startswith("#") for text in texts)
        found.append(f"{name} was {in_short_text(one)} and is {in_short_text(other)}" if shown else name)
    return found


def in_short_text(text: str | None) -> str:
    return "" if text is None else text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def digest_of(value: Any) -> str:
    """A hash of a value with all that is in it.

    Examples
    --------
    >>> digest_of([1, "a"]) == digest_of([1, "a"]), digest_of([1, "a"]) == digest_of([1, "b"])
    (True, False)
    """
    digest = hashlib.blake2b(digest_size=16)
    for piece in _pieces(value):
        digest.update(len(piece).to_bytes(8, "little"))
        digest.update(piece)
    return f"#{digest.hexdigest()}"


def _pieces(value: Any) -> Iterator[bytes | memoryview]:
    """Bytes that differ where values do."""
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OV":
        yield f"array {value.dtype} {value.shape}".encode()
        flat: Any = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
        yield memoryview(flat)
    elif isinstance(value, np.ndarray):
        yield f"array of objects {value.shape}".encode()
        for each in value.reshape(-1).tolist():
            yield from _pieces(each)
    elif sparse.issparse(value):
        held = value.tocsr()
        yield from _pieces([held.shape, held.data, held.indices, held.indptr])
    elif isinstance(value, Mapping):
        yield f"mapping {len(value)}".encode()
        for key, held in value.items():
            yield from _pieces(key)
            yield from _pieces(held)
    elif isinstance(value, list | tuple):
        yield f"list {len(value)}".encode()
        for each in value:
            yield from _pieces(each)
    elif isinstance(value, set | frozenset):
        yield from _pieces(sorted(map(digest_of, value)))
    else:
        yield from _pieces_of_object(value)


def _pieces_of_object(value: Any) -> Iterator[bytes | memoryview]:
    kind = type(value)
    yield f"{kind.__module__}.{kind.__qualname__}".encode()
    if hasattr(value, "get_params") and not isinstance(value, type):
        yield from _pieces(dict(sorted(value.get_params(deep=False).items())))
    elif isinstance(value, functools.partial):
        yield from _pieces([value.func, value.args, value.keywords])
    elif callable(value) and hasattr(value, "__qualname__"):
        yield f"{value.__module__}.{value.__qualname__}".encode()
    elif hasattr(value, "__array__"):
        yield from _pieces(np.asarray(value))
    elif getattr(value, "__dict__", None):
        yield from _pieces(vars(value))
    elif " at 0x" not in (text := repr(value)):
        yield text.encode("utf-8", "backslashreplace")


def _as_text(value: Any) -> str:
    """A parameter as text; with a digest where the text is not all of it."""
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return in_short(value)
    return f"{in_short(value) if ' at 0x' not in repr(value) else type(value).__name__} {digest_of(value)}"
