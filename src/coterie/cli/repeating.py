"""`coterie fit --repeat`: the fit of a model file once more, with the columns and settings that the file notes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.errors import MODEL_FILE, CommandError, usage_error
from coterie.cli.models import open_model
from coterie.cli.training import Roles, TrainingTable
from coterie.data.inference.reading import TableReading
from coterie.files import inspect_file

RepeatOption = Annotated[
    Path | None,
    typer.Option(
        "--repeat",
        help="A model file: fit exactly what it holds once more, the same members, rows and rounds.",
    ),
]


def roles_note(roles: Roles, where: str | None) -> dict[str, str]:
    """What a model file notes of the columns and rows of its fit."""
    held = {
        "groups": roles.groups,
        "time": roles.time,
        "weight": roles.weight,
        "drop": list(roles.drop),
        "where": where,
    }
    return {"roles": json.dumps(held)}


@dataclass(frozen=True)
class EarlierFit:
    """A committee from its file, the columns and rows that it was fitted to, and how they were read."""

    model: Any
    roles: Roles
    task: str
    where: str | None
    reading: TableReading

    def repeated(self, training: TrainingTable, jobs: int | None) -> Any:
        """The same fit once more."""
        if jobs is not None:
            self.model.set_params(n_jobs=jobs)
        return self.model.repeat(training.X, training.y, training.weight, groups=training.groups)


def earlier_fit(path: Path, target: str, given: dict[str, Any]) -> EarlierFit:
    """Read the file; an error if an option was given that the file decides."""
    for option, value in given.items():
        if value is not None:
            raise usage_error(
                f"{option} and --repeat: a fit that is repeated has the settings of {path}.",
                option,
                value,
                hint=f"Leave {option} out.",
            )
    own = open_model(path)
    notes = inspect_file(path).notes
    if not hasattr(own.model, "record_") or "roles" not in notes:
        raise CommandError(
            f"{path} holds no fit that can be repeated: it is a {type(own.model).__name__} of Python, or of a version "
            "that did not record its fit.",
            MODEL_FILE,
            parameter="--repeat",
            received=path,
            hint="Fit it once more with `coterie fit`.",
        )
    if own.target != target:
        raise usage_error(
            f"--target {target}: {path} was fitted to {own.target!r}.", "--target", target, allowed=own.target
        )
    try:
        held = json.loads(notes["roles"])
        roles = Roles(target, held["groups"], held["time"], held["weight"], tuple(held["drop"]))
        where = held["where"]
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(
            f"{path} notes the columns of its fit in a way that cannot be read.",
            MODEL_FILE,
            parameter="--repeat",
            received=path,
        ) from error
    return EarlierFit(own.model, roles, str(notes.get("task", "auto")), where, own.reading)
