"""A model from its file, and the table that it is to predict."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.cli.errors import MODEL_FILE, CommandError, check_exists, data_error, usage_error
from coterie.cli.training import no_rows
from coterie.data.inference.reading import KINDS, ColumnKind, ColumnReading, TableReading, missing_in
from coterie.data.table_files.data_table import DataTable
from coterie.data.table_files.suggestions import listed, nearest
from coterie.errors import ModelFileError
from coterie.files import inspect_file, load


@dataclass(frozen=True)
class LoadedModel:
    """A model and what its file notes.

    Attributes
    ----------
    target : the name of the target, or None if the file does not say
    reading : how columns are read, by name; empty for a model that was not fitted here
    notes : all that the file notes, by name
    """

    model: Any
    path: Path
    target: str | None
    reading: TableReading
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_classifier(self) -> bool:
        return hasattr(self.model, "classes_")

    @property
    def names(self) -> list[str] | None:
        held = getattr(self.model, "feature_names_in_", None)
        return None if held is None else [str(name) for name in held]

    def features(self, table: DataTable, others: set[str]) -> Any:
        """The columns that the model needs; those that it does not know are left alone."""
        if self.names is None:
            return self._by_number(table, others)
        missing = [name for name in self.names if name not in table.types]
        if missing:
            raise self._lacks_columns(missing, table)
        return _with_rows(table.columns(self.names, self._reading_in(table)), table)

    def _reading_in(self, table: DataTable) -> TableReading:
        """As in the fit; columns of which nothing is noted as they are understood here."""
        assert self.names is not None
        unknown = [name for name in self.names if name not in self.reading]
        return TableReading({**{name: table.reading()[name] for name in unknown}, **self.reading})

    def _by_number(self, table: DataTable, others: set[str]) -> Any:
        """The model was fitted to a matrix: all columns but the target and the ids, in the order of the file."""
        names = [name for name in table.types if name not in others]
        expected = int(self.model.n_features_in_)
        if len(names) != expected:
            raise data_error(
                f"{self.path} was fitted to {expected} columns without names, and {table.name} has {len(names)} beside "
                f"{listed(sorted(others)) or 'the target'}.",
                "DATA",
                len(names),
                allowed=f"{expected} columns",
                hint="Give it those columns alone, in the order of the fit.",
            )
        held = _with_rows(table.columns(names, table.reading()), table)
        return np.column_stack([_number_or_text(values) for values in held.values()])

    def _lacks_columns(self, missing: list[str], table: DataTable) -> CommandError:
        known = set(self.names or ())
        unknown = [name for name in table.types if name not in known and name != self.target]
        guesses = []
        for name in missing[:5]:
            near = nearest(name, unknown)
            if near is not None:
                guesses.append(f"{name!r} may be called {near!r} there")
        hint = (
            f"{'; '.join(guesses)}: rename it back."
            if guesses
            else "If a column is unknown for these rows, add it with empty values: the model learned what to do then."
        )
        others = f" It has {listed(unknown)} that the model does not know." if unknown else ""
        plural = "a column" if len(missing) == 1 else f"{len(missing)} columns"
        return data_error(
            f"{table.name} lacks {plural} that {self.path} needs: {listed(missing)}.{others}",
            "DATA",
            missing,
            hint=hint,
        )

    def target_in(self, table: DataTable, given: str | None) -> str:
        """The name of the target: as given, or as the file notes it."""
        name = given if given is not None else self.target
        if name is None:
            raise usage_error(
                f"{self.path} does not note which column is the target.", "--target", hint="Name it: --target"
            )
        table.check_column(name, "--target" if given is not None else f"the target of {self.path}")
        return name

    def truth(self, table: DataTable, name: str) -> AnyArray:
        """The target of each row, as the model knows it."""
        known = None if self.target is None else self.reading.get(self.target)
        own = table.reading()[name] if known is None else replace(known, name=name)
        values = _with_rows(table.columns([name], {name: own}), table)[name]
        holes = missing_in(values)
        if holes.any():
            raise data_error(
                f"The target {name!r} is missing in {holes.sum():,} of {len(values):,} rows of {table.name}; the first "
                f"is row {int(holes.argmax()) + 1}.",
                "--target",
                name,
                hint=f"Read the other rows alone: --where '\"{name}\" IS NOT NULL'",
            )
        return self._labels(values, name) if self.is_classifier else self._numbers(values, name)

    def _labels(self, values: AnyArray, name: str) -> AnyArray:
        classes = np.asarray(self.model.classes_)
        labels = values.astype(str) if classes.dtype.kind in "OU" else values
        unknown = sorted({str(own) for own in set(labels.tolist()) - set(classes.tolist())})
        if unknown:
            raise data_error(
                f"The target {name!r} holds classes that {self.path} never saw: {listed(unknown)}. It knows "
                f"{listed([str(own) for own in classes])}.",
                "--target",
                unknown,
                hint="Leave those rows out with --where, or fit a new model.",
            )
        return labels

    @staticmethod
    def _numbers(values: AnyArray, name: str) -> AnyArray:
        if values.dtype.kind not in "biuf":
            raise data_error(
                f"The target {name!r} holds no numbers, and the model predicts numbers.", "--target", name
            )
        return values.astype(np.float64)


def open_model(path: Path) -> LoadedModel:
    """Load a model, and read the notes of its file."""
    check_exists(str(path), MODEL_FILE)
    with with_advice():
        notes = inspect_file(path).notes
        model = load(path)
    if not hasattr(model, "n_features_in_"):
        raise CommandError(
            f"{path} holds a {type(model).__name__} that was not fitted.",
            MODEL_FILE,
            parameter="MODEL",
            received=path,
        )
    return LoadedModel(model, path, notes.get("target"), _reading(notes), notes)


@contextmanager
def with_advice() -> Iterator[None]:
    """Add what to do about a file that is damaged."""
    try:
        yield
    except ModelFileError as error:
        hint = "Copy it once more, or fit it again." if "damaged" in str(error) else None
        raise CommandError(str(error), MODEL_FILE, parameter="MODEL", hint=hint) from error


def _reading(notes: dict[str, str]) -> TableReading:
    """How columns are read, as the file notes it; files of 0.1 note kinds alone."""
    if "reading" in notes:
        return TableReading.of_json(notes["reading"])
    try:
        held = json.loads(notes.get("kinds", "{}"))
    except ValueError:
        return TableReading()
    kinds: dict[str, ColumnKind] = {**{kind: kind for kind in KINDS}, "text": "category"}
    if not isinstance(held, dict):
        return TableReading()
    return TableReading(
        {name: ColumnReading(name, kinds[kind]) for name, kind in held.items() if kind in kinds}
    )


def _with_rows(held: dict[str, AnyArray], table: DataTable) -> dict[str, AnyArray]:
    if not len(next(iter(held.values()))):
        raise no_rows(table)
    return held


def _number_or_text(values: AnyArray) -> AnyArray:
    return values if values.dtype.kind in "biuf" else values.astype(object)
