"""A member that is complete as a part of a checkpoint, and back."""

from collections.abc import Collection
from typing import Any

from coterie.committee._committee_data import FittedMember
from coterie.committee.candidates.entry import Entry
from coterie.errors import ModelFileError
from coterie.members.response import ResponseMethod


def stored(member: FittedMember) -> dict[str, Any]:
    """What a checkpoint holds of a member."""
    return {
        "name": member.name,
        "models": member.models,
        "answers": member.predictions,
        "fit_time": member.fit_time,
        "predict_time": member.predict_time,
        "n_rows": member.n_rows,
        "stopped": member.stopped,
        "forecast": member.forecast,
        "single_fit": member.single_fit,
        "stops": member.stops,
    }


def restored(
    entry: Entry,
    response: ResponseMethod,
    held: dict[str, Any],
    n_models: Collection[int],
    shape: tuple[int, int],
) -> FittedMember:
    """The member that a checkpoint holds, if it has as many models as one of these, and predictions of this shape."""
    if len(held["models"]) not in n_models or held["answers"].shape != shape:
        raise ModelFileError(f"The checkpoint holds another {entry.name!r} than the one of this table.")
    return FittedMember(
        entry,
        response,
        held["models"],
        held["answers"],
        held["fit_time"],
        held["predict_time"],
        held["n_rows"],
        held["stopped"],
        held["forecast"],
        held.get("single_fit", False),
        held.get("stops", []),
    )
