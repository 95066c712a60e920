"""`coterie predict`: predictions of a model for the rows of a table, into a file or onto the standard output."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import duckdb
import numpy as np
import typer

from coterie._typing import AnyArray
from coterie.cli.command import Messages, command
from coterie.cli.deciding import decide_by, decided
from coterie.cli.errors import usage_error
from coterie.cli.models import LoadedModel, open_model
from coterie.cli.options import DataArgument, EncodingOption, ModelArgument, WhereOption
from coterie.cli.writing import as_json, check_place, placed, print_out
from coterie.data.table_files.data_table import open_table
from coterie.members.decision_rule import decided_codes

_JSON_LINES = (".jsonl", ".ndjson")
_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".json", *_JSON_LINES)


def write_table(columns: Mapping[str, AnyArray], path: Path | None, ending: str = ".csv") -> None:
    """A table as a file whose ending decides the format, or on the standard output in the format of an ending."""
    if path is None:
        print_out(_text(columns, ending))
        return
    with placed(path) as part:
        if path.suffix.lower() == ".parquet":
            _write_parquet(columns, part)
        else:
            part.write_text(_text(columns, path.suffix.lower()), encoding="utf-8", newline="")


def _text(columns: Mapping[str, AnyArray], ending: str) -> str:
    names = list(columns)
    rows = zip(*map(_cells, columns.values()), strict=True)
    if ending == ".json" or ending in _JSON_LINES:
        lines = [as_json(dict(zip(names, row, strict=True)), indent=None) for row in rows]
        return (
            "[\n" + ",\n".join(lines) + "\n]\n" if ending == ".json" else "".join(f"{own}\n" for own in lines)
        )
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return file.getvalue()


def without_formulas(columns: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """The same table in which no text begins like a formula of a spreadsheet.

    Examples
    --------
    >>> without_formulas({"a": np.array(["=1+1", "x", None], dtype=object)})
    {'a': array(["'=1+1", 'x', None], dtype=object)}
    """

    def escaped(text: Any) -> Any:
        return f"'{text}" if isinstance(text, str) and text.startswith(_FORMULA_MARKS) else text

    found = {}
    for name, values in columns.items():
        plain = values
        if values.dtype.kind in "OU":
            plain = np.empty(len(values), dtype=object)
            plain[:] = [escaped(text) for text in values.tolist()]
        found[escaped(name)] = plain
    return found


def _cells(values: AnyArray) -> list[Any]:
    """Values as one writes them: days without hours, whole numbers without a point, holes as None."""
    if values.dtype.kind in "mM":
        texts = (values.astype("M8[D]") if _are_days(values) else values).astype(str).tolist()
        return [None if text == "NaT" else text.replace("T", " ") for text in texts]
    if values.dtype.kind == "f":
        whole = _are_whole(values)
        return [None if own != own else int(own) if whole else own for own in values.tolist()]
    return list(values.tolist())


def _are_days(values: AnyArray) -> bool:
    if values.dtype.kind != "M":
        return False
    known = values[~np.isnat(values)]
    return bool((known == known.astype("M8[D]")).all())


def _are_whole(values: AnyArray) -> bool:
    """Whether these are whole numbers that became floats because some are missing."""
    holes = np.isnan(values)
    known = values[~holes]
    return bool(holes.any()) and bool(((known == np.round(known)) & (np.abs(known) < 2**53)).all())


def _write_parquet(columns: Mapping[str, AnyArray], part: Path) -> None:
    held = {name: _for_duckdb(values) for name, values in columns.items()}
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in columns}
    wanted = ", ".join(
        f"CAST({own} AS DATE) AS {own}" if _are_days(columns[name]) else own for name, own in quoted.items()
    )
    place = str(part).replace("'", "''")
    with duckdb.connect() as connection:
        connection.register("held", held)
        try:
            connection.execute(f"COPY (SELECT {wanted} FROM held) TO '{place}' (FORMAT parquet)")
        except duckdb.IOException as error:
            raise OSError(str(error).splitlines()[0]) from error


def _for_duckdb(values: AnyArray) -> AnyArray:
    if values.dtype.kind == "M":
        return values.astype("M8[us]")
    return values.astype(object) if values.dtype.kind == "U" else values


@command
def predict(
    messages: Messages,
    model: ModelArgument,
    data: DataArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A file: .csv, .tsv, .parquet, .json or .ndjson. Default: CSV to stdout."
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add a column of probabilities for each class.")
    ] = False,
    interval: Annotated[
        float | None, typer.Option(help="Add low and high, which hold the truth so often, such as 0.9.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Of two classes: predict the positive one from this probability on."),
    ] = None,
    id_: Annotated[
        list[str] | None, typer.Option("--id", help="A column to keep. May be given several times.")
    ] = None,
    escape_formulas: Annotated[
        bool,
        typer.Option(
            "--escape-formulas", help="Put ' before texts in CSV that a spreadsheet would take for formulas."
        ),
    ] = False,
    where: WhereOption = None,
    encoding: EncodingOption = None,
    json: Annotated[bool, typer.Option("--json", help="Predictions as one JSON document.")] = False,
    json_lines: Annotated[
        bool, typer.Option("--json-lines", help="A JSON object on each line, for streams.")
    ] = False,
) -> None:
    """Predict the rows of a table, in its order. Columns that the model does not know are ignored."""
    if output is not None:
        check_place(output, "--output", TABLE_ENDINGS)
        if json or json_lines:
            raise usage_error(
                f"{'--json' if json else '--json-lines'} writes to the standard output; with -o the ending of the "
                "file decides the format.",
                "--json" if json else "--json-lines",
            )
    if json and json_lines:
        raise usage_error("--json and --json-lines are two forms of the same: choose one.", "--json-lines")
    own = open_model(model)
    _check_outputs(own, proba, interval)
    decide_by(own.model, threshold)
    with open_table(data, where, encoding=encoding) as table:
        kept = list(dict.fromkeys(id_ or ()))
        for name in kept:
            table.check_column(name, "--id")
        X = own.features(table, {*kept, *([] if own.target is None else [own.target])})
        columns = table.columns(kept) if kept else {}
    for name, values in _predictions(own.model, X, proba, interval).items():
        columns[_free(name, columns)] = values
    if escape_formulas:
        columns = without_formulas(columns)
    write_table(columns, output, ".json" if json else ".ndjson" if json_lines else ".csv")
    if output is not None:
        messages.note(f"{len(columns['prediction']):,} predictions are in {output}.")


def _check_outputs(own: LoadedModel, proba: bool, interval: float | None) -> None:
    name = type(own.model).__name__
    if proba and not hasattr(own.model, "predict_proba"):
        hint = None if own.is_classifier else "For numbers there is --interval 0.9."
        raise usage_error(f"--proba: this {name} has no probabilities.", "--proba", name, hint=hint)
    if interval is None:
        return
    if not 0 < interval < 1:
        allowed = "a share between 0 and 1, such as 0.9"
        raise usage_error(
            f"--interval {interval:g}: expected {allowed}.", "--interval", interval, allowed=allowed
        )
    if not hasattr(own.model, "predict_interval"):
        hint = (
            "For classes there is --proba."
            if own.is_classifier
            else "Committees, forests and boosting of numbers have them."
        )
        raise usage_error(f"--interval: this {name} has no intervals.", "--interval", name, hint=hint)


def _predictions(model: Any, X: Any, proba: bool, interval: float | None) -> dict[str, AnyArray]:
    if proba:
        probabilities = np.asarray(model.predict_proba(X))
        return {
            "prediction": np.asarray(model.classes_)[decided_codes(model, probabilities)],
            **{f"proba_{label}": probabilities[:, place] for place, label in enumerate(model.classes_)},
        }
    columns = {"prediction": decided(model, X)}
    if interval is not None:
        ends = np.asarray(model.predict_interval(X, 1 - interval))
        columns |= {"low": ends[:, 0], "high": ends[:, 1]}
    return columns


def _free(name: str, taken: Any) -> str:
    """A name that no column to keep has."""
    while name in taken:
        name = f"{name}_"
    return name
