"""DART: rounds left out while the next one is grown, and the weights they come back with."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_classification, make_regression

from coterie import GradientBoostingClassifier, GradientBoostingRegressor, _engine
from coterie._params import root_seed, spawn_seeds
from coterie._typing import AnyArray, FloatArray
from coterie.boosting import _training
from coterie.boosting._dropout import dart_weights
from coterie.errors import InvalidParameter
from tests.helpers.estimators import fingerprint
from tests.helpers.oracles import needs_callbacks
from tests.naive.dart import dart

SETTINGS: dict[str, Any] = {"n_estimators": 20, "dropout_rate": 0.3, "random_state": 0}


class NaiveDart:
    """DART for squared error on numbers, with a tree grower of the engine and nothing else of the library."""

    def __init__(self, X: FloatArray, y: FloatArray, seed: int, learning_rate: float) -> None:
        no_levels = np.zeros(X.shape[1], np.int32)
        n_bins = min(255, max(32, len(X) // 8))
        mapper = _engine.BinMapper.fit(X, no_levels, np.empty(0), n_bins, seed, 1)
        options = _engine.GrowOptions()
        options.learning_rate, options.level_smoothing, options.level_l2 = learning_rate, 10.0, 1.0
        self.grower = _engine.TreeGrower(_engine.BinnedMatrix(X, no_levels, mapper, 1), options, 1)
        self.X, self.no_levels, self.seed = X, no_levels, seed
        self.start = float(np.mean(y))
        self.scale = 2.0 ** np.frexp(np.abs(y - self.start).max())[1]
        self.y = ((y - self.start) / self.scale).astype(np.float32)

    def grow(self, scores: FloatArray, number: int) -> FloatArray:
        gradient = scores.astype(np.float32) - self.y
        none = np.empty(0, np.float32)
        tree = self.grower.grow(gradient, none, np.empty(0, np.uint32), (self.seed + number) % 2**64)
        forest = _engine.Forest(self.X.shape[1], 1)
        forest.add(tree)
        answers = np.zeros(len(self.X))
        forest.add_scores(self.X, self.no_levels, answers, 1)
        return answers


@pytest.mark.parametrize("learning_rate", [1.0, 0.1])
@pytest.mark.parametrize(("rate", "skip"), [(0.3, 0.0), (0.1, 0.5), (1.0, 0.0), (0.001, 0.2)])
def test_the_model_is_that_of_the_twin(rate: float, skip: float, learning_rate: float) -> None:
    X, y = make_regression(300, 5, noise=20.0, random_state=1)
    X[::7, 1] = np.nan
    model = GradientBoostingRegressor(
        n_estimators=25,
        learning_rate=learning_rate,
        dropout_rate=rate,
        dropout_skip=skip,
        random_state=3,
    ).fit(X, y)
    seed = root_seed(3)
    twin = NaiveDart(X, y, seed, learning_rate)
    weights, said = dart(
        twin.grow,
        len(X),
        25,
        rate=rate,
        skip=skip,
        learning_rate=learning_rate,
        draws=np.random.Generator(np.random.PCG64(int(spawn_seeds(seed, 1)[0]))),
    )

    assert (weights < 1).sum() > 5
    np.testing.assert_allclose(model.predict(X), twin.start + twin.scale * (weights @ said), rtol=1e-12)


def test_weights_of_a_round_that_leaves_some_out() -> None:
    assert dart_weights(1, 1.0) == (0.5, 0.5)
    kept, fresh = dart_weights(2, 0.1)
    # If the new tree learned what was left out, a step of the learning rate brings it back whole.
    assert kept + 0.1 * fresh == pytest.approx(1.0)


def test_the_scores_of_the_training_rows_are_those_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is taken out and put back 150 times comes back as it was."""
    X, y = make_regression(400, 6, random_state=0)
    scores: list[AnyArray] = []
    conclude = _training.conclude

    def listening(trainer: Any, *args: Any, **kwargs: Any) -> Any:
        scores.append(trainer.boosters[0].loss.raw_predictions(np.arange(400)))
        return conclude(trainer, *args, **kwargs)

    monkeypatch.setattr(_training, "conclude", listening)
    model = GradientBoostingRegressor(**{**SETTINGS, "n_estimators": 150}).fit(X, y)
    np.testing.assert_allclose(scores[0][:, 0], model.predict(X), rtol=1e-5, atol=1e-5 * np.ptp(y))


CHOICES: list[dict[str, Any]] = [
    {},
    {"subsample": 0.5, "sampling_method": "uniform"},
    {"n_folds": 3},
    {"growth": "oblivious", "max_depth": 4},
]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: next(iter(choice), "plain"))
def test_threads_do_not_change_a_model_with_dropout(choice: dict[str, Any]) -> None:
    X, y = make_classification(1500, 8, n_informative=5, n_classes=3, random_state=0)
    models = [
        GradientBoostingClassifier(**SETTINGS, **choice, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3, 8)
    ]
    plain = GradientBoostingClassifier(**{**SETTINGS, "dropout_rate": 0.0}, **choice).fit(X, y)

    assert models[0].score(X, y) > 0.8
    assert len({fingerprint(model) for model in models}) == 1
    assert fingerprint(plain) != fingerprint(models[0])


@pytest.mark.parametrize("loss", ["absolute_error", "poisson", "huber"])
def test_dropout_goes_with_other_losses(loss: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(loss=loss, **SETTINGS).fit(X, y)

    assert model.score(X, y) > 0.2


def test_dropout_goes_with_several_targets_and_categories() -> None:
    rng = np.random.default_rng(0)
    town = rng.choice(["Cork", "Oslo", "Rome"], 500)
    size = rng.normal(size=500)
    y = np.column_stack([(town == "Oslo") + size, 1000 * (town == "Rome") - 500 * size])
    model = GradientBoostingRegressor(**{**SETTINGS, "n_estimators": 60}).fit({"town": town, "size": size}, y)

    assert model.score({"town": town, "size": size}, y) > 0.9


def test_a_constraint_holds_whatever_the_weights() -> None:
    X, y = make_regression(500, 3, noise=50.0, random_state=0)
    model = GradientBoostingRegressor(**SETTINGS, monotonic_cst=[1, 0, 0]).fit(X, y)
    line = np.zeros((50, 3))
    line[:, 0] = np.linspace(-3, 3, 50)

    assert (np.diff(model.predict(line)) >= 0).all()
    assert np.ptp(model.predict(line)) > 0


def test_no_dropout_and_skipping_always_are_plain_boosting() -> None:
    X, y = make_regression(400, 5, random_state=0)
    plain = GradientBoostingRegressor(**{**SETTINGS, "dropout_rate": 0.0}).fit(X, y).predict(X)
    skipping = GradientBoostingRegressor(**SETTINGS, dropout_skip=1.0).fit(X, y).predict(X)

    np.testing.assert_allclose(skipping, plain, rtol=1e-4)


@needs_callbacks
@pytest.mark.parametrize("n_folds", [1, 3])
def test_a_callback_sees_the_model_of_each_round(n_folds: int) -> None:
    """The model of n rounds has the weights of that time: it is the model of a shorter fit."""
    X, y = make_regression(300, 4, random_state=0)
    seen: list[AnyArray] = []

    class Watching:
        def setup(self, estimator: Any, context: Any) -> None:
            pass

        def teardown(self, estimator: Any, context: Any) -> None:
            pass

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            pass

        def on_fit_task_end(self, estimator: Any, context: Any, *, X: Any, fitted_estimator: Any) -> bool:
            if context.parent is not None:
                seen.append(fitted_estimator.predict(X))
            return False

    model = GradientBoostingRegressor(**SETTINGS, n_folds=n_folds)
    model.set_callbacks(Watching())
    model.fit(X, y)
    short = GradientBoostingRegressor(**{**SETTINGS, "n_estimators": 12}, n_folds=n_folds).fit(X, y)

    np.testing.assert_allclose(seen[11], short.predict(X), rtol=1e-9)
    np.testing.assert_allclose(seen[-1], model.predict(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": "auto"}, "dropout_rate=0.3 needs a number of rounds"),
        ({"early_stopping": True}, "dropout_rate=0.3 does not go with early_stopping"),
        ({"warm_start": True}, "dropout_rate=0.3 does not go with warm_start"),
        ({"dropout_rate": 1.5}, "dropout_rate"),
        ({"dropout_skip": -0.1}, "dropout_skip"),
    ],
)
def test_what_dropout_cannot_do_is_refused(settings: dict[str, Any], message: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(InvalidParameter, match=message):
        GradientBoostingRegressor(**{**SETTINGS, **settings}).fit(X, y)


def test_stages_and_eval_sets_of_dropout_are_refused() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(InvalidParameter, match=r"dropout_rate=0\.3 does not go with eval_set"):
        GradientBoostingRegressor(**SETTINGS, early_stopping=False).fit(X, y, eval_set=(X, y))
    with pytest.raises(InvalidParameter, match=r"dropout_rate=0\.3 leaves no stages"):
        GradientBoostingRegressor(**SETTINGS).fit(X, y).staged_predict(X)


def test_boosters_with_dropout_can_be_refitted_to_all_rows() -> None:
    X, y = make_regression(300, 5, random_state=0)
    model = GradientBoostingRegressor(**SETTINGS, n_folds=3, refit=True).fit(X, y)
    once = GradientBoostingRegressor(**SETTINGS, n_folds=3).fit(X, y)

    assert model.score(X, y) > once.score(X, y)
    np.testing.assert_array_equal(model.oof_prediction_, once.oof_prediction_)
