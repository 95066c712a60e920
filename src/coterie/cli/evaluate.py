"""`coterie evaluate`: scores and losses of a model on the rows of a table, and whether that is good enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer

from coterie._typing import AnyArray
from coterie.cli.command import Messages, command
from coterie.cli.errors import QUALITY_GATE, CommandError, data_error, usage_error
from coterie.cli.models import LoadedModel, open_model
from coterie.cli.options import (
    DataArgument,
    EncodingOption,
    JsonOption,
    MemoryOption,
    ModelArgument,
    WeightOption,
    WhereOption,
    bytes_in,
    opened_table,
)
from coterie.cli.prediction_batches import truths_of
from coterie.cli.resampling import bootstrap_ends
from coterie.cli.writing import as_json, print_out
from coterie.data.inference.reading import ColumnReading
from coterie.data.table_files.data_table import DataTable
from coterie.data.table_files.suggestions import guessed
from coterie.errors import CoterieError
from coterie.members.decision_rule import decided_codes
from coterie.metrics import METRICS, PredictedRows, WeightedMetric, metric_names, metrics_of, shown_metric


@dataclass(frozen=True)
class MetricInputs:
    """True and predicted targets of rows.

    Attributes
    ----------
    predicted : classes or numbers
    proba : predicted probabilities of classes, or None
    classes : labels, or None for numbers
    """

    truth: AnyArray
    predicted: AnyArray
    weight: AnyArray | None = None
    proba: AnyArray | None = None
    classes: AnyArray | None = None

    def take(self, rows: AnyArray) -> "MetricInputs":
        return MetricInputs(
            self.truth[rows],
            self.predicted[rows],
            None if self.weight is None else self.weight[rows],
            None if self.proba is None else self.proba[rows],
            self.classes,
        )

    def coded(self) -> PredictedRows:
        """The same with codes of classes."""
        if self.classes is None:
            return PredictedRows(self.truth, self.predicted)
        truth, predicted = (
            np.searchsorted(self.classes, labels).astype(np.int64) for labels in (self.truth, self.predicted)
        )
        return PredictedRows(truth, predicted, self.proba, len(self.classes))


def weighted_metrics(inputs: MetricInputs) -> dict[str, WeightedMetric]:
    """All metrics of these rows, as functions of their weights."""
    rows = inputs.coded()
    known = metrics_of(rows.n_classes, with_proba=rows.proba is not None)
    return {metric.name: metric.of_weights(rows) for metric in known}


def measured(inputs: MetricInputs) -> dict[str, float]:
    """All metrics; NaN if one cannot be computed from these rows."""
    weight = np.ones(len(inputs.truth)) if inputs.weight is None else inputs.weight.astype(np.float64)
    return {name: metric(weight) for name, metric in weighted_metrics(inputs).items()}


def intervals(inputs: MetricInputs, *, seed: int = 0) -> dict[str, list[float]]:
    """The ends of a 95 % confidence interval of each metric, by the bootstrap of rows; NaN where there is none."""
    return bootstrap_ends(weighted_metrics(inputs), inputs.weight, len(inputs.truth), seed=seed)


def baseline_of(inputs: MetricInputs) -> dict[str, float]:
    """The metrics of a model without columns: how frequent classes are here, or the mean, and the median for mae."""
    n_rows = len(inputs.truth)
    if inputs.classes is None:
        means = np.full(n_rows, np.average(inputs.truth, weights=inputs.weight))
        medians = np.full(n_rows, np.median(inputs.truth))
        by_mean = measured(MetricInputs(inputs.truth, means, inputs.weight))
        by_median = measured(MetricInputs(inputs.truth, medians, inputs.weight))
        return {name: (by_median if name in ("mae", "median_error") else by_mean)[name] for name in by_mean}
    counted = np.ones(n_rows) if inputs.weight is None else inputs.weight
    shares = np.array([counted[inputs.truth == label].sum() for label in inputs.classes]) / counted.sum()
    predicted = np.full(n_rows, inputs.classes[shares.argmax()])
    proba = None if inputs.proba is None else np.tile(shares, (n_rows, 1))
    return measured(MetricInputs(inputs.truth, predicted, inputs.weight, proba, inputs.classes))


@dataclass(frozen=True)
class RowProvenance:
    """Whether the model was fitted to the rows that it is evaluated on, and what it scores out of fold or of bag.

    Attributes
    ----------
    seen : True if it seems so; None if nobody knows
    source : "out of fold" or "out of bag"
    scores : of the rows of the fit, by parts of the model that had not seen them; None if they are not known
    """

    seen: bool | None = None
    source: str = ""
    scores: dict[str, float] | None = None


def training_rows(model: Any, X: Any, truth: AnyArray) -> RowProvenance:
    """Compare predictions with those that the model kept from its fit."""
    from coterie.report.evaluated_model import evaluated_model, provenance_of  # not needed by other commands

    try:
        evaluated = evaluated_model(model, X, truth, max_rows=20_000, n_jobs=None, seed=0)
        provenance = provenance_of(evaluated, None)
    except CoterieError:  # a model that no report is made of, such as one of several targets
        return RowProvenance()
    kept, classes = provenance.predictions, evaluated.classes
    if not provenance.seen or kept is None:
        return RowProvenance(provenance.seen)
    if classes is None:
        inputs = MetricInputs(kept.y_true, kept.y_pred)
    else:
        inputs = MetricInputs(classes[kept.y_true], classes[kept.y_pred], None, kept.proba, classes)
    return RowProvenance(True, provenance.source, measured(inputs))


@dataclass(frozen=True)
class QualityGate:
    """A bound that a metric must not cross."""

    name: str
    bound: float
    is_loss: bool


def read_gates(under: Sequence[str], over: Sequence[str], *, of_classes: bool) -> list[QualityGate]:
    """Quality gates from texts such as `auc=0.8`; scores have bounds below, losses above."""
    return [_gate(text, "--fail-under", of_classes) for text in under] + [
        _gate(text, "--fail-over", of_classes) for text in over
    ]


def _gate(text: str, option: str, of_classes: bool) -> QualityGate:
    given, mark, number = text.partition("=")
    try:
        bound = float(number)
    except ValueError:
        bound = math.nan
    if not mark or math.isnan(bound):
        example = "auc=0.8" if option == "--fail-under" else "rmse=10"
        allowed = f"a name and a number, such as {example}"
        raise usage_error(f"{option} {text}: expected {allowed}.", option, text, allowed=allowed)
    name, task = shown_metric(given).name, "classification" if of_classes else "regression"
    metric = METRICS.get(name)
    if metric is None or metric.task != task:
        kind, other = ("classes", "numbers") if of_classes else ("numbers", "classes")
        wrong_kind = None if metric is None else f"It is for {other}, and the model predicts {kind}."
        known = metric_names("classification" if of_classes else "regression")
        raise usage_error(
            f"{option} {text}: there is no {given!r} here.",
            option,
            given,
            allowed=f"one of {', '.join(known)}",
            hint=" ".join(
                filter(None, [wrong_kind or guessed(given, known), f"Known are {', '.join(known)}."])
            ),
        )
    is_loss = not metric.greater_is_better
    if is_loss != (option == "--fail-over"):
        better, right = ("less", "--fail-over") if is_loss else ("more", "--fail-under")
        raise usage_error(
            f"{option} {text}: of {name} {better} is better, so its gate is {right} {text}",
            option,
            name,
            allowed=right,
        )
    return QualityGate(name, bound, is_loss)


def check_gates(gates: Sequence[QualityGate], found: dict[str, float]) -> None:
    """Fail if a bound is crossed."""
    unknown = next((gate for gate in gates if math.isnan(found.get(gate.name, math.nan))), None)
    if unknown is not None:
        raise data_error(
            f"{unknown.name} cannot be computed from these rows: perhaps they are all of one class, or there is "
            "one row, or the model has no probabilities.",
            "--fail-over" if unknown.is_loss else "--fail-under",
            unknown.name,
            hint="Use more rows, or another gate.",
        )
    crossed = [
        gate
        for gate in gates
        if (found[gate.name] > gate.bound) == gate.is_loss and found[gate.name] != gate.bound
    ]
    if crossed:
        words = [
            f"{gate.name} is {found[gate.name]:.6g}, {'over' if gate.is_loss else 'under'} {gate.bound:g}"
            for gate in crossed
        ]
        raise CommandError(
            f"The model is not good enough: {'; '.join(words)}.",
            QUALITY_GATE,
            received={gate.name: found[gate.name] for gate in crossed},
        )


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
    encoding: EncodingOption = None,
    memory: MemoryOption = None,
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
    """Score a model on rows that it has not seen, with confidence intervals, beside a baseline.

    An arrow shows which way is better. Classes: accuracy, balanced_accuracy, f1, auc and average_precision (more is
    better), log_loss and brier (less is better). Numbers: r2 (more), rmse, mae and median_error (less).
    """
    own = open_model(model)
    gates = read_gates(fail_under or (), fail_over or (), of_classes=own.is_classifier)
    n_bytes = bytes_in(memory)
    with opened_table(messages, data, where, encoding) as table:
        name, source = own.target_in(table, target), table.name
        if weight is not None:
            table.check_column(weight, "--weight")
        if n_bytes is None:
            inputs, known = _evaluated(own, table, name, weight)
        else:
            with messages.progress("predicting", "row"):
                inputs, known = _evaluated_in_batches(own, table, name, weight, n_bytes), RowProvenance()
    found = measured(inputs)
    ends, baseline = intervals(inputs), baseline_of(inputs)
    n_rows = len(inputs.truth)
    if json:
        result = {
            "model": model,
            "data": source,
            "target": name,
            "n_rows": n_rows,
            "scores": found,
            "intervals": ends,
            "baseline": baseline,
            "training_rows": known.seen,
            "out_of_sample": known.scores,
        }
        print_out(as_json(result))
    else:
        messages.result(_table(found, ends, baseline, known))
    messages.note(
        f"{n_rows:,} rows of {source}, target {name!r}; low and high: a 95 % confidence interval; baseline: "
        f"{'the mean or median' if inputs.classes is None else 'how frequent the classes are'}, without any column"
    )
    if known.seen:
        messages.note(_about_training_rows(known))
    check_gates(gates, found)


def _table(
    found: dict[str, float], ends: dict[str, list[float]], baseline: dict[str, float], known: RowProvenance
) -> str:
    """A line for each metric."""
    columns = {
        "metric": [shown_metric(name).heading for name in found],
        "value": [f"{value:.6g}" for value in found.values()],
        "low": [f"{ends[name][0]:.4g}" for name in found],
        "high": [f"{ends[name][1]:.4g}" for name in found],
        "baseline": [f"{baseline[name]:.4g}" for name in found],
    }
    if known.scores is not None:
        columns[known.source.replace(" ", "_")] = [f"{known.scores[name]:.6g}" for name in found]
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def _about_training_rows(known: RowProvenance) -> str:
    instead = "" if known.scores is None else f" Rely on what the model scored {known.source} instead."
    return (
        "warning: the model seems to have been fitted to these very rows: its predictions for them correlate with "
        f"those that it kept from the fit. These scores are too good.{instead}"
    )


def _evaluated(
    own: LoadedModel, table: DataTable, name: str, weight: str | None
) -> tuple[MetricInputs, RowProvenance]:
    """The whole table at once."""
    truth = own.truth(table, name)
    X = own.features(table, {name, *([] if weight is None else [weight])})
    weights = None
    if weight is not None:
        weights = table.columns([weight], {weight: ColumnReading(weight, "number")})[weight]
    return _metric_inputs(own, X, truth, weights), training_rows(own.model, X, truth)


def _evaluated_in_batches(
    own: LoadedModel, table: DataTable, name: str, weight: str | None, n_bytes: int
) -> MetricInputs:
    """Batch by batch; targets and predictions of all rows are kept."""
    parts = [
        _metric_inputs(own, X, truth, weights)
        for X, truth, weights in truths_of(own, table, name, weight, n_bytes)
    ]

    def joined(values: list[Any]) -> Any:
        return None if values[0] is None else np.concatenate(values)

    return MetricInputs(
        joined([part.truth for part in parts]),
        joined([part.predicted for part in parts]),
        joined([part.weight for part in parts]),
        joined([part.proba for part in parts]),
        parts[0].classes,
    )


def _metric_inputs(own: LoadedModel, X: object, truth: np.ndarray, weight: np.ndarray | None) -> MetricInputs:
    model = own.model
    if not own.is_classifier:
        return MetricInputs(truth, np.asarray(model.predict(X)), weight)
    classes = np.asarray(model.classes_)
    if not hasattr(model, "predict_proba"):
        return MetricInputs(truth, np.asarray(model.predict(X)), weight, None, classes)
    proba = np.asarray(model.predict_proba(X))
    return MetricInputs(truth, classes[decided_codes(model, proba)], weight, proba, classes)
