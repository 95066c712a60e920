"""A scan as a whole: the features of all its batches as a fitted model sees them, for evaluation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.data.encoding import Encoded
from coterie.data.prepare import prepare_prediction
from coterie.data.streaming.rows import GatheredColumn
from coterie.data.streaming.scan import Scan, offsets_of, values_of
from coterie.data.streaming.spill import SpillFolder
from coterie.errors import InvalidInput


@dataclass(frozen=True)
class GatheredRows:
    """Features, target as it came, weights and offsets of all rows; None for what scan does not name."""

    encoded: Encoded
    target: AnyArray
    weight: AnyArray | None
    offset: AnyArray | None


def gathered_rows(scan: Scan, estimator: Any) -> GatheredRows:
    """One pass; features are in mapped files if scan has a folder for them."""
    roles = scan.roles
    if not roles.target:
        raise InvalidInput(
            "The scan has no target to compare predictions with.",
            parameter="target",
            allowed="the name of a column",
            hint="Name its column: scan(source, target='y').",
        )
    targets = [GatheredColumn() for _ in roles.target]
    weights: list[AnyArray] = []
    offsets: list[AnyArray] = []
    parts: list[list[AnyArray]] = []
    fine: dict[int, list[AnyArray]] = {}
    for batch in scan.batches():
        with batch.named():
            encoded = prepare_prediction(estimator, batch.features)
        values = encoded.values
        parts.append([np.array(column) for column in (values if isinstance(values, list) else values.T)])
        for feature, codes in encoded.fine_codes.items():
            fine.setdefault(feature, []).append(codes)
        for name, gathered in zip(roles.target, targets, strict=True):
            gathered.append(values_of(batch.rows(name)))
        if roles.sample_weight is not None:
            weights.append(values_of(batch.rows(roles.sample_weight)))
        if roles.offset:
            offsets.append(offsets_of(batch, roles.offset))
    if not parts:
        raise InvalidInput(
            f"{scan!r} has no rows.", parameter="source", received=0, allowed="at least one row"
        )
    n_rows = targets[0].n_rows
    spill = None if scan.spill is None else SpillFolder(scan.spill)
    columns = [_joined([part[index] for part in parts], n_rows, spill) for index in range(len(parts[0]))]
    whole = Encoded(
        columns,
        n_rows,
        len(columns),
        estimator.encoder_.n_levels,
        {feature: np.concatenate(codes) for feature, codes in fine.items()},
    )
    return GatheredRows(
        whole,
        _labelled(targets),
        np.concatenate(weights) if weights else None,
        np.concatenate(offsets) if offsets else None,
    )


def _joined(parts: list[AnyArray], n_rows: int, spill: SpillFolder | None) -> AnyArray:
    dtype = np.result_type(*{part.dtype for part in parts})
    whole = np.empty(n_rows, dtype=dtype) if spill is None else spill.empty(n_rows, dtype)
    return np.concatenate(parts, out=whole)


def _labelled(targets: list[GatheredColumn]) -> AnyArray:
    arrays = []
    for column in targets:
        array, labels = column.array(), column.labels
        arrays.append(array if labels is None else labels[array])
    return arrays[0] if len(arrays) == 1 else np.stack(arrays, axis=1)
