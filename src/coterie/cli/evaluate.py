"""`coterie evaluate`: how good a model is on the rows of a table, and whether that is good enough."""

from typing import Annotated

import numpy as np
import typer

from coterie.cli.command import command
from coterie.cli.console import Messages
from coterie.cli.metrics import MetricInputs, check_gates, measured, read_gates
from coterie.cli.models import LoadedModel, open_model
from coterie.cli.options import DataArgument, JsonOption, ModelArgument, WeightOption, WhereOption
from coterie.cli.reading import open_table
from coterie.cli.writing import as_json, print_out


@command
def evaluate(
    messages: Messages,
    model: ModelArgument,
    data: DataArgument,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column with the truth; default: as in the fit.")
    ] = None,
    weight: WeightOption = None,
    where: WhereOption = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(help="NAME=NUMBER: exit with 4 if the score is less. May be given several times."),
    ] = None,
    fail_over: Annotated[
        list[str] | None,
        typer.Option(help="NAME=NUMBER: exit with 4 if the loss is more. May be given several times."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Score a model on rows that it has not seen.

    Scores of classes are accuracy, balanced_accuracy, f1 and auc, losses log_loss and brier. The score of numbers is
    r2, losses are rmse, mae and median_error.
    """
    own = open_model(model)
    gates = read_gates(fail_under or (), fail_over or (), of_classes=own.is_classifier)
    with open_table(data, where) as table:
        name = own.target_in(table, target)
        if weight is not None:
            table.check_column(weight, "--weight")
        truth = own.truth(table, name)
        X = own.features(table, {name, *([] if weight is None else [weight])})
        weights = None if weight is None else table.columns([weight], {weight: "number"})[weight]
        source = table.name
    found = measured(_metric_inputs(own, X, truth, weights))
    if json:
        print_out(
            as_json({"model": model, "data": source, "target": name, "n_rows": len(truth), "scores": found})
        )
    else:
        width = max(map(len, found))
        lines = [f"{metric:<{width}}  {value:.6g}" for metric, value in found.items()]
        print_out("\n".join(lines))
    messages.note(f"{len(truth):,} rows of {source}, target {name!r}")
    check_gates(gates, found)


def _metric_inputs(own: LoadedModel, X: object, truth: np.ndarray, weight: np.ndarray | None) -> MetricInputs:
    model = own.model
    if not own.is_classifier:
        return MetricInputs(truth, np.asarray(model.predict(X)), weight)
    classes = np.asarray(model.classes_)
    if not hasattr(model, "predict_proba"):
        return MetricInputs(truth, np.asarray(model.predict(X)), weight, None, classes)
    proba = np.asarray(model.predict_proba(X))
    return MetricInputs(truth, classes[proba.argmax(axis=1)], weight, proba, classes)
