"""Loads changed files and asks the models that come out of them: `python -m tests.helpers.ask_mutants care 0 1000`.

The kinds are noise (nobody corrects the checksums), care (values are changed, and checksums corrected) and mapped (the
same with files that are not compact, whose arrays stay in the file).

Any error of Python is fine when a strange model is asked. What is not: an error at load that is not ours, a process
that ends or hangs, and memory far beyond the size of the file.
"""

import faulthandler
import io
import random
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import coterie
from coterie.errors import ModelFileError
from coterie.files import container
from tests.helpers.mutations import loaded, stored, with_care, with_noise

SECONDS = 30
MOST_MEMORY = 200 * 2**20


def small_models(**options: Any) -> list[tuple[bytes, Any]]:
    """Files of many kinds of models, and tables that they can be asked about."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    size = np.where(rng.random(40) < 0.1, np.nan, X[:, 0])
    town = np.array(["Oslo", "Rome", "Cork", "Lima"])[rng.integers(0, 4, 40)]
    table = {"size": size, "town": town, "code": np.array([f"c{i % 20}" for i in range(40)])}
    numbers = X[:, 0] + (town == "Rome")
    labels = np.array(["blue", "green", "red"])[np.digitize(numbers, [-0.3, 0.6])]
    trees = [
        ("deep", coterie.DecisionTreeClassifier()),
        ("flat", coterie.DecisionTreeClassifier(max_depth=1)),
    ]
    small: dict[str, Any] = {"n_estimators": 3, "random_state": 0}
    fitted = [
        (coterie.DecisionTreeClassifier().fit(table, labels), table),
        (coterie.RandomForestClassifier(**small).fit(table, labels), table),
        (coterie.ExtraTreesRegressor(bootstrap=True, **small).fit(X, numbers), X),
        (coterie.GradientBoostingClassifier(min_samples_leaf=2, **small).fit(table, labels), table),
        (
            coterie.GradientBoostingRegressor(min_samples_leaf=2, target_statistics="columns", **small).fit(
                table, numbers
            ),
            table,
        ),
        (
            coterie.GradientBoostingRegressor(min_samples_leaf=2, linear_leaves=True, **small).fit(
                X, numbers
            ),
            X,
        ),
        (coterie.AdaBoostClassifier(**small).fit(table, labels), table),
        (coterie.AdaBoostRegressor(**small).fit(X, numbers), X),
        (coterie.AnyBoostRegressor(**small).fit(X, numbers), X),
        (coterie.BaggingClassifier(**small).fit(X, labels), X),
        (coterie.VotingClassifier(trees, voting="soft").fit(X, labels), X),
        (coterie.StackingClassifier(trees, final_estimator=trees[1][1], cv=2).fit(X, labels), X),
        (coterie.SelectionClassifier(trees).fit(X, labels), X),
        (coterie.OutputCodeClassifier(coterie.DecisionTreeClassifier(max_depth=2)).fit(X, labels), X),
    ]
    many = rng.normal(size=(300, 3))  # enough for arrays that are coded
    fitted += [
        (coterie.RandomForestRegressor(**small).fit(many, many[:, 0]), many[:40]),
        (coterie.GradientBoostingClassifier(**small).fit(many, many[:, 0] > many[:, 1]), many[:40]),
        (coterie.DecisionTreeRegressor().fit(many, many[:, 0]), many[:40]),
    ]
    return [(stored(model, **options), X) for model, X in fitted]


def few(X: Any) -> Any:
    return {name: column[:2] for name, column in X.items()} if isinstance(X, dict) else X[:2]


QUESTIONS: list[Callable[[Any, Any], Any]] = [
    lambda model, X: model.predict(X),
    lambda model, X: model.predict(few(X)),
    lambda model, X: model.predict_proba(X),
    lambda model, X: model.decision_function(X),
    lambda model, X: model.apply(X),
    lambda model, X: model.explain(few(X)),
    lambda model, _: model.feature_importances_,
    lambda model, _: model.unbiased_importances_,
    lambda model, _: model.oob_importances(),
    lambda model, _: model.oob_decision_function_,
    lambda model, X: model.predict_quantiles(X, [0.5]),
    lambda model, X: model.proximity(X),
    lambda model, X: model.estimators_[0].predict(X),
    lambda model, X: list(model.staged_predict(X)),
    lambda model, _: stored(model),
    lambda model, _: repr(model),
]


def ask(model: Any, X: Any) -> int:
    """How many questions are answered."""
    answered = 0
    for question in QUESTIONS:
        try:
            question(model, X)
            answered += 1
        except Exception:
            continue
    return answered


def memory() -> int:
    """The most that this process has had so far, in bytes; 0 where that is not known."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def mapped(data: bytes) -> Any:
    """The model of a file whose arrays stay where they are; the file is gone when the model is asked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(data)
        return coterie.load(path, mmap=True)


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main(kind: str, first: int, n: int) -> None:
    faulthandler.enable()
    warnings.simplefilter("ignore")
    files = small_models(compact=kind != "mapped")
    change = {"noise": with_noise, "care": with_care, "mapped": with_care}[kind]
    load = loaded
    if kind == "mapped":
        container._WORTH_MAPPING = 1
        load = mapped
    for data, X in files:
        assert ask(load(data), X) >= 3
    before = memory()
    refused = accepted = 0
    for number in range(first, first + n):
        data, X = files[number % len(files)]
        mutant = change(data, random.Random(number))
        if mutant is None or mutant == data:
            continue
        say(f"{number}\r")
        if hasattr(signal, "alarm"):
            signal.alarm(SECONDS)  # ends the process: a model that hangs is a failure
        with suppress(ModelFileError):
            str(coterie.inspect_file(io.BytesIO(mutant)))
        try:
            model = load(mutant)
        except ModelFileError:
            refused += 1
        else:
            accepted += 1
            ask(model, X)
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        assert memory() - before < MOST_MEMORY, f"file {number} took {(memory() - before) >> 20} MiB"
    say(f"\n{refused} {accepted}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
