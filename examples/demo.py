"""coterie at work: two tables, honest scores beside simple baselines, and the time it took.

The first table is real and tidy (breast cancer, from scikit-learn). The second is made up and messy: text,
ordered categories, dates, a column of many streets, and holes in most columns. coterie takes both as they
are. Every score comes from rows that the model did not see.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coterie import DecisionTreeClassifier, GradientBoostingClassifier
from coterie.datasets import make_messy

Table = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Result:
    """What cross-validation says about one model."""

    accuracy: float
    log_loss: float
    fit_seconds: float
    predict_seconds: float


def rows_of(table: Table, rows: np.ndarray) -> Table:
    return {name: values[rows] for name, values in table.items()}


def as_matrix(table: Table) -> np.ndarray:
    return np.column_stack(list(table.values()))


def cross_validate(
    make: Callable[[], Any], table: Table, y: np.ndarray, read: Callable[[Table], Any] = dict
) -> Result:
    """Fit on four fifths, ask about the fifth, five times. `read` makes of a table what the model takes."""
    answers = np.zeros((len(y), len(np.unique(y))))
    fit_seconds = predict_seconds = 0.0
    for known, unseen in StratifiedKFold(5, shuffle=True, random_state=0).split(y, y):
        start = perf_counter()
        model = make().fit(read(rows_of(table, known)), y[known])
        fitted = perf_counter()
        answers[unseen] = model.predict_proba(read(rows_of(table, unseen)))
        fit_seconds += fitted - start
        predict_seconds += perf_counter() - fitted
    labels = np.unique(y)
    guesses = labels[answers.argmax(axis=1)]
    return Result(
        accuracy=accuracy_score(y, guesses),
        log_loss=log_loss(y, answers, labels=labels),
        fit_seconds=fit_seconds / 5,
        predict_seconds=predict_seconds / 5,
    )


def print_header(title: str, table: Table, y: np.ndarray) -> None:
    holes = np.mean([value is None or value != value for column in table.values() for value in column])
    print(f"\n{title}")
    print(
        f"{len(y):,} rows, {len(table)} columns, {len(np.unique(y))} classes, {holes:.0%} of values missing"
    )
    print()
    print(f"  {'model':<34} {'accuracy':>9} {'log loss':>9} {'fit':>10} {'predict':>10}")


def print_result(name: str, result: Result) -> None:
    fit, predict = (f"{1000 * seconds:,.1f} ms" for seconds in (result.fit_seconds, result.predict_seconds))
    print(f"  {name:<34} {result.accuracy:>9.1%} {result.log_loss:>9.3f} {fit:>10} {predict:>10}")


def one_tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=4, min_samples_leaf=10)


def logistic_regression() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression())


def show_tidy() -> None:
    bunch = load_breast_cancer()
    table, y = dict(zip(bunch.feature_names, bunch.data.T, strict=True)), bunch.target
    print_header("Breast cancer (scikit-learn's table)", table, y)
    print_result("always the commonest class", cross_validate(DummyClassifier, table, y, as_matrix))
    print_result("logistic regression, scaled", cross_validate(logistic_regression, table, y, as_matrix))
    print_result("one tree", cross_validate(one_tree, table, y))
    print_result("coterie, gradient boosting", cross_validate(GradientBoostingClassifier, table, y))


def show_messy() -> None:
    table, y = make_messy(5000, random_state=0)
    print_header("House sales (generated: text, categories, dates, holes)", table, y)
    print_result("always the commonest class", cross_validate(DummyClassifier, table, y, as_matrix))
    print_result("one tree", cross_validate(one_tree, table, y))
    print_result("coterie, gradient boosting", cross_validate(GradientBoostingClassifier, table, y))


if __name__ == "__main__":
    begin = perf_counter()
    print(f"coterie {version('coterie')}. Five-fold cross-validation: every score is about unseen rows.")
    show_tidy()
    show_messy()
    print("\nHigher accuracy is better, lower log loss is better; times are for one of the five fits.")
    print(f"All of it took {perf_counter() - begin:.1f} seconds.")
