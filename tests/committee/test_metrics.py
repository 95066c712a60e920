"""Scores of a committee and how far they may be from those of other rows, against the textbook."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from coterie.committee.metrics import (
    LogLossMetric,
    RowTargets,
    ScorerMetric,
    SquaredErrorMetric,
    mean_with_error,
)
from coterie.errors import CoterieError
from coterie.fitting.scoring import PredictionScorer
from coterie.metrics import metric_names
from tests.helpers.oracles import needs_scikit_learn

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=12)


def test_the_error_of_a_mean_is_the_spread_over_the_root_of_the_number() -> None:
    score = mean_with_error(VALUES, RowTargets(np.zeros(12), np.full(12, 3.0)))

    assert score.value == pytest.approx(VALUES.mean())
    assert score.error == pytest.approx(VALUES.std(ddof=1) / math.sqrt(12))


def test_rows_without_weight_count_for_nothing() -> None:
    weight = (np.arange(12) % 3 > 0).astype(float)
    score = mean_with_error(VALUES, RowTargets(np.zeros(12), weight))
    kept = VALUES[weight > 0]

    assert score.value == pytest.approx(kept.mean())
    assert score.error == pytest.approx(kept.std(ddof=1) / math.sqrt(8))


def test_rows_of_a_group_err_together() -> None:
    groups = np.arange(12) // 3
    score = mean_with_error(VALUES, RowTargets(np.zeros(12), np.ones(12), groups))
    means = VALUES.reshape(4, 3).mean(axis=1)

    assert score.value == pytest.approx(VALUES.mean())
    assert score.error == pytest.approx(means.std(ddof=1) / 2)


def test_of_one_row_or_one_group_nobody_knows_the_error() -> None:
    row, group = (
        RowTargets(np.zeros(1), np.ones(1)),
        RowTargets(np.zeros(3), np.ones(3), np.ones(3, dtype=int)),
    )

    assert math.isnan(mean_with_error(np.array([2.0]), row).error)
    assert math.isnan(mean_with_error(np.array([2.0, 3.0, 4.0]), group).error)
    two = RowTargets(np.zeros(2), np.ones(2))
    assert mean_with_error(np.array([1.0, 3.0]), two).error == pytest.approx(1.0)


def test_losses_of_rows_are_those_of_the_definitions() -> None:
    proba = np.array([[0.25, 0.75], [1.0, 0.0]])
    np.testing.assert_allclose(
        LogLossMetric().losses(proba, np.array([1, 1])), [-math.log(0.75), -math.log(np.finfo(float).eps)]
    )
    assert SquaredErrorMetric().losses(np.array([[1.0], [5.0]]), np.array([3.0, 4.0])).tolist() == [4.0, 1.0]


class Scored:
    """What a committee of classes, or of numbers if there are none, shows its scorer."""

    def __init__(self, scoring: str, n_classes: int | None) -> None:
        self.scoring = scoring
        self._estimator_type = "regressor" if n_classes is None else "classifier"
        if n_classes is not None:
            self.classes_ = np.array(["low", "middle", "very high"])[:n_classes]

    def __sklearn_tags__(self) -> Any:
        return SimpleNamespace(estimator_type=self._estimator_type)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"scoring": self.scoring}

    def _response_functions(self) -> Any:
        if self._estimator_type == "regressor":
            return {"predict": lambda raw: raw[:, 0]}
        return {"predict": lambda raw: self.classes_[raw.argmax(axis=1)], "predict_proba": lambda raw: raw}


def metric_and_rows(scoring: str, n_classes: int | None) -> tuple[ScorerMetric, RowTargets, Any]:
    """A metric, targets with weights, and a library of four members; the second has many rows of one score."""
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 3, 60) + 0.3
    if n_classes is None:
        rows = RowTargets(rng.normal(size=60), weight)
        library = rows.truth[None, :, None] + rng.normal(size=(4, 60, 1))
    else:
        rows = RowTargets(np.arange(60) % n_classes, weight)
        library = rng.dirichlet(np.ones(n_classes), (4, 60))
        library[1] = np.eye(n_classes)[rng.integers(0, n_classes, 60)]
    scored = Scored(scoring, n_classes)
    task: Any = "regression" if n_classes is None else "classification"
    labels = (lambda truth: truth) if n_classes is None else (lambda truth: scored.classes_[truth])
    return ScorerMetric(PredictionScorer(scored), labels, task), rows, library


SEVERAL = needs_scikit_learn("1.7", "average_precision and brier are of two classes")


@pytest.mark.parametrize(
    ("scoring", "n_classes"),
    [
        *((name, 2) for name in metric_names("classification")),
        *(
            pytest.param(name, 3, marks=SEVERAL if name in ("average_precision", "brier") else ())
            for name in metric_names("classification")
        ),
        *((name, None) for name in metric_names("regression")),
        ("roc_auc", 2),
        ("roc_auc_ovr", 3),
        ("neg_root_mean_squared_error", None),
        ("neg_mean_squared_error", None),
    ],
)
def test_a_greedy_choice_scores_means_as_scikit_learn_does(scoring: str, n_classes: int | None) -> None:
    metric, rows, library = metric_and_rows(scoring, n_classes)
    mean = library[:2].mean(axis=0)
    found = metric.evaluator(library, rows).scores(mean, 2, [0, 1, 2, 3])

    expected = [metric.value((2 * mean + own) / 3, rows) for own in library]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert len(set(expected)) > 1


def test_a_choice_by_a_score_that_these_rows_do_not_have_says_so() -> None:
    metric, rows, library = metric_and_rows("auc", 2)
    one_class = RowTargets(np.zeros_like(rows.truth), rows.weight)

    with pytest.raises(CoterieError, match=r"scoring='auc'.* 60 rows"):
        metric.evaluator(library, one_class).scores(library[0], 1, [1])
