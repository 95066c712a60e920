"""Options of `coterie fit` about decisions: thresholds, costs, the positive class and weights of classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer

from coterie._typing import AnyArray
from coterie.cli.errors import usage_error
from coterie.data.table_files.suggestions import guessed, listed
from coterie.members.decision_rule import (
    BOUNDED_SCORES,
    TUNED_SCORES,
    DecisionRule,
    decided_codes,
    parsed_threshold,
)

ThresholdOption = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        help="How to decide between two classes: f1, balanced_accuracy, precision_at_recall=0.8, a number ...",
    ),
]
CostOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cost", help="CLASS=NUMBER: what it costs to miss this class. May be given several times."
    ),
]
PositiveOption = Annotated[
    str | None, typer.Option("--positive", help="The positive class of two; default: the second.")
]
ClassWeightOption = Annotated[
    str | None,
    typer.Option(
        "--class-weight", help="balanced, or CLASS=NUMBER with commas between: how much classes count."
    ),
]


@dataclass(frozen=True)
class DecisionOptions:
    """What was given; None where nothing was."""

    threshold: str | None = None
    cost: Sequence[str] | None = None
    positive: str | None = None
    class_weight: str | None = None

    def given(self) -> dict[str, Any]:
        """By option."""
        return {
            "--threshold": self.threshold,
            "--cost": self.cost or None,
            "--positive": self.positive,
            "--class-weight": self.class_weight,
        }

    def parameters(self, classes: AnyArray | None) -> dict[str, Any]:
        """Parameters of a committee whose target has these classes."""
        given = [option for option, value in self.given().items() if value is not None]
        if not given:
            return {}
        if classes is None:
            raise usage_error(
                f"{given[0]} is about classes, and the target holds numbers.",
                given[0],
                hint="If the numbers are classes: --task classification",
            )
        if self.threshold is not None and self.cost:
            raise usage_error(
                "--threshold and --cost each decide alone: choose one.", "--cost", list(self.cost)
            )
        found: dict[str, Any] = {}
        if self.threshold is not None:
            found["threshold"] = _threshold(self.threshold, len(classes))
        if self.cost:
            found["cost_matrix"] = _numbers("--cost", self.cost, classes)
        if self.positive is not None:
            found["pos_label"] = _label("--positive", self.positive, classes)
        if self.class_weight is not None:
            balanced = self.class_weight == "balanced"
            found["class_weight"] = (
                "balanced" if balanced else _numbers("--class-weight", self.class_weight.split(","), classes)
            )
        return found


def _threshold(text: str, n_classes: int) -> Any:
    names = [*TUNED_SCORES, *BOUNDED_SCORES]
    try:
        chosen = parsed_threshold(text)
    except ValueError:
        allowed = (
            f"one of {', '.join(TUNED_SCORES)}, {BOUNDED_SCORES[0]}=0.8, {BOUNDED_SCORES[1]}=0.8, or a number between "
            "0 and 1"
        )
        raise usage_error(
            f"--threshold {text}: expected {allowed}.",
            "--threshold",
            text,
            allowed=allowed,
            hint=guessed(text.partition("=")[0], names),
        ) from None
    if n_classes > 2 and chosen != "balanced_accuracy":
        raise usage_error(
            f"--threshold {text} is for two classes, and the target has {n_classes}.",
            "--threshold",
            text,
            allowed="balanced_accuracy, or --cost",
            hint="Say by --cost what it costs to miss each class.",
        )
    return chosen


def _label(option: str, text: str, classes: AnyArray) -> Any:
    """The class that a text names."""
    for label in classes.tolist():
        if str(label) == text:
            return label
    known = [str(label) for label in classes.tolist()]
    raise usage_error(
        f"{option} {text}: the target has no such class. It has {listed(known)}.",
        option,
        text,
        allowed=f"one of {listed(known)}",
        hint=guessed(text, known),
    )


def _numbers(option: str, texts: Sequence[str], classes: AnyArray) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for text in texts:
        name, mark, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not mark or not 0 <= value < float("inf"):
            raise usage_error(
                f"{option} {text}: expected CLASS=NUMBER, the number at least 0.",
                option,
                text,
                allowed="CLASS=NUMBER",
            )
        found[_label(option, name.strip(), classes)] = value
    return found


def decide_by(model: Any, threshold: float | None) -> None:
    """Let a model that was loaded for one command decide by another threshold than that of its fit."""
    if threshold is None:
        return
    classes, name = getattr(model, "classes_", None), type(model).__name__
    if classes is None or len(classes) != 2 or not hasattr(model, "predict_proba"):
        what = "numbers" if classes is None else f"{len(classes)} classes"
        raise usage_error(
            f"--threshold is for probabilities of two classes, and this {name} predicts {what}.",
            "--threshold",
            threshold,
            allowed="a model of two classes with probabilities",
        )
    if not 0 <= threshold <= 1:
        allowed = "a number between 0 and 1"
        raise usage_error(
            f"--threshold {threshold:g}: expected {allowed}.", "--threshold", threshold, allowed=allowed
        )
    model.decision_ = DecisionRule("given", 1, threshold)


def decided(model: Any, X: Any) -> AnyArray:
    """The predictions of a model; of one that decides by a rule, by this rule."""
    if isinstance(getattr(model, "decision_", None), DecisionRule):
        codes = decided_codes(model, np.asarray(model.predict_proba(X)))
        return np.asarray(np.asarray(model.classes_)[codes])
    return np.asarray(model.predict(X))
