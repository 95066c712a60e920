"""What is new since fit, as far as the model remembers: kinds of columns, categories, missing values."""

from typing import Any

import numpy as np

from coterie.report.figures_in_words import percent
from coterie.report.subject import Subject

__all__ = ["news_of"]


def news_of(subject: Subject) -> dict[int, tuple[str, ...]]:
    """Remarks by the place of the column; nothing for models that remember nothing."""
    memory = _with_memory(subject.model)
    if memory is None:
        return {}
    encoder, saw_missing = getattr(memory, "encoder_", None), getattr(memory, "_saw_missing", None)
    kinds = getattr(getattr(memory, "schema_", None), "kinds", ())
    table, names = subject.whole, getattr(memory, "feature_names_in_", None)
    places = {str(name): place for place, name in enumerate(names)} if names is not None else {}
    found: dict[int, tuple[str, ...]] = {}
    for own in range(table.n_columns):
        place = places.get(table.label(own), own)
        column, remarks = table.column(own), []
        if place < len(kinds) and kinds[place] != column.kind and not column.is_empty():
            remarks.append(f"was {kinds[place]} in fit")
        levels = encoder.levels(place) if encoder is not None and place < len(encoder.n_levels) else None
        if levels is not None and column.levels is not None:
            known = set(levels.tolist())
            strange = np.array([level not in known for level in column.levels.tolist()], dtype=bool)
            codes = column.values[column.values >= 0]
            share = float(strange[codes].sum()) / max(1, len(column.values)) if len(strange) else 0.0
            if share:
                remarks.append(f"{percent(share)} are categories that fit did not see")
        if (
            saw_missing is not None
            and place < len(saw_missing)
            and not saw_missing[place]
            and _has_missing(column)
        ):
            remarks.append("nothing was missing in fit")
        if remarks:
            found[own] = tuple(remarks)
    return found


def _has_missing(column: Any) -> bool:
    if column.levels is not None:
        return bool((column.values < 0).any())
    return column.values.dtype.kind == "f" and bool(np.isnan(column.values).any())


def _with_memory(model: Any) -> Any:
    """The model, or the first of its members that read the table itself."""
    if hasattr(model, "encoder_"):
        return model
    members = getattr(model, "estimators_", None)
    for member in members if isinstance(members, list) else []:
        for own in getattr(member, "models", [member])[:1]:
            if hasattr(own, "encoder_") and hasattr(own, "schema_"):
                return own
    return None
