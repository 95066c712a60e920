"""What differs from the training data, as far as the model keeps it: kinds of columns, categories, missing values."""

from typing import Any

import numpy as np

from coterie.report.evaluated_model import KIND_NAMES, EvaluatedModel
from coterie.report.number_format import percent


def changes_since_fit(evaluated: EvaluatedModel) -> dict[int, tuple[str, ...]]:
    """Remarks by the position of the column; none for models that keep nothing about the training data."""
    fitted = _with_encoder(evaluated.model)
    if fitted is None:
        return {}
    encoder, saw_missing = getattr(fitted, "encoder_", None), getattr(fitted, "_saw_missing", None)
    kinds = getattr(getattr(fitted, "schema_", None), "kinds", ())
    table, names = evaluated.table, getattr(fitted, "feature_names_in_", None)
    places = {str(name): place for place, name in enumerate(names)} if names is not None else {}
    found: dict[int, tuple[str, ...]] = {}
    for own in range(table.n_columns):
        place = places.get(table.label(own), own)
        column, remarks = table.column(own), []
        if place < len(kinds) and kinds[place] != column.kind and not column.is_empty():
            remarks.append(f"was {KIND_NAMES[kinds[place]]} in fit")
        levels = encoder.levels(place) if encoder is not None and place < len(encoder.n_levels) else None
        if levels is not None and column.levels is not None:
            known = set(levels.tolist())
            unseen = np.array([level not in known for level in column.levels.tolist()], dtype=bool)
            codes = column.values[column.values >= 0]
            share = float(unseen[codes].sum()) / max(1, len(column.values)) if len(unseen) else 0.0
            if share:
                remarks.append(f"{percent(share)} of values are unseen categories")
        if (
            saw_missing is not None
            and place < len(saw_missing)
            and not saw_missing[place]
            and _has_missing(column)
        ):
            remarks.append("no missing values in fit")
        if remarks:
            found[own] = tuple(remarks)
    return found


def _has_missing(column: Any) -> bool:
    if column.levels is not None:
        return bool((column.values < 0).any())
    return column.values.dtype.kind == "f" and bool(np.isnan(column.values).any())


def _with_encoder(model: Any) -> Any:
    """The model, or the first of its members that read the table itself."""
    if hasattr(model, "encoder_"):
        return model
    members = getattr(model, "estimators_", None)
    for member in members if isinstance(members, list) else []:
        for own in getattr(member, "models", [member])[:1]:
            if hasattr(own, "encoder_") and hasattr(own, "schema_"):
                return own
    return None
