"""Several labels at once: a matrix of zeros and ones, or a column of two classes for each."""

import pickle
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

import coterie
from coterie import GradientBoostingClassifier, RandomForestClassifier
from coterie._typing import AnyArray
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import CustomLoss, Focal
from tests.helpers.estimators import fingerprint

STRATEGIES = ("one_tree_per_class", "shared_trees")
SETTINGS: dict[str, Any] = {"n_estimators": 20, "random_state": 0}


@pytest.fixture(scope="module")
def table() -> tuple[AnyArray, AnyArray]:
    X, Y = make_multilabel_classification(500, 10, n_classes=4, random_state=0)
    X[::7, 0] = np.nan
    return X, Y


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"subsample": 0.5, "sampling_method": "uniform"},
        {"max_features": 0.5, "split_noise": 1.0},
        {"growth": "oblivious", "max_depth": 4},
        {"linear_leaves": True},
        {"path_smoothing": 5.0, "l1_regularization": 1.0, "max_step": 0.5},
        {"monotonic_cst": [1] + [0] * 9},
        {"loss": "focal"},
        {"loss": "exponential"},
    ],
    ids=lambda choice: "-".join(choice) or "plain",
)
def test_a_tree_for_each_label_is_a_model_for_each_to_the_bit(choice: dict[str, Any], table: Any) -> None:
    X, Y = table
    together = GradientBoostingClassifier(**SETTINGS, **choice, multi_strategy="one_tree_per_class").fit(X, Y)
    for label, shares in zip(Y.T, together.predict_proba(X), strict=True):
        alone = GradientBoostingClassifier(**SETTINGS, **choice).fit(X, label)
        np.testing.assert_array_equal(shares, alone.predict_proba(X))


def test_the_answers_have_the_form_of_forests(table: Any) -> None:
    X, Y = table
    names = np.array(["no", "yes"])[Y]
    for target in (Y, Y.astype(bool), names, pd.DataFrame(names, columns=list("abcd"))):
        model = GradientBoostingClassifier(**SETTINGS).fit(X, target)
        forest = RandomForestClassifier(5, random_state=0).fit(X, target)

        assert [own.tolist() for own in model.classes_] == [own.tolist() for own in forest.classes_]
        for ours, theirs in zip(model.predict_proba(X), forest.predict_proba(X), strict=True):
            assert ours.shape == theirs.shape == (500, 2)
            np.testing.assert_allclose(ours.sum(axis=1), 1)
        assert model.predict(X).shape == forest.predict(X).shape == (500, 4)
        assert model.predict(X).dtype.kind == forest.predict(X).dtype.kind
        assert not hasattr(model, "decision_function")
        assert (model.predict(X) == np.asarray(target)).mean() > 0.85


def test_labels_of_two_kinds_have_their_own_classes(table: Any) -> None:
    X, Y = table
    target = pd.DataFrame({"late": Y[:, 0], "side": np.array(["left", "right"])[Y[:, 1]]})
    model = GradientBoostingClassifier(**SETTINGS).fit(X, target)

    assert [own.tolist() for own in model.classes_] == [[0, 1], ["left", "right"]]
    assert model.predict(X[:1]).tolist()[0][1] in ("left", "right")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_shared_or_not_the_labels_are_learned(strategy: str, table: Any) -> None:
    X, Y = table
    model = GradientBoostingClassifier(n_estimators=60, random_state=0, multi_strategy=strategy)
    model.fit(X[:350], Y[:350])
    losses = [log_loss(a, b) for a, b in zip(Y[350:].T, model.predict_proba(X[350:]), strict=True)]
    constant = [log_loss(a, np.full(150, b)) for a, b in zip(Y[350:].T, Y[:350].mean(axis=0), strict=True)]

    assert np.mean(losses) < 0.8 * np.mean(constant)
    assert len(model.forest_) == 60 * (4 if strategy == "one_tree_per_class" else 1)


def test_a_shared_round_is_one_tree_with_a_value_for_each_label(table: Any) -> None:
    X, Y = table
    model = GradientBoostingClassifier(**SETTINGS, multi_strategy="shared_trees").fit(X, Y)

    assert len(model.forest_) == 20
    assert model.forest_.tree(0).value.shape[1] == 4


def test_the_recipe_shares_trees_and_a_number_of_rounds_does_not(table: Any) -> None:
    X, Y = table
    recipe = GradientBoostingClassifier(n_folds=2, linear_leaves=False, random_state=0).fit(X, Y)

    assert recipe.forest_.tree(0).value.shape[1] == 4
    assert [own.shape for own in recipe.oof_proba_] == [(500, 2)] * 4
    apart = GradientBoostingClassifier(**SETTINGS, multi_strategy="one_tree_per_class").fit(X, Y)
    assert fingerprint(GradientBoostingClassifier(**SETTINGS).fit(X, Y)) == fingerprint(apart)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_label_that_all_rows_have_is_predicted(strategy: str, table: Any) -> None:
    X, Y = table
    target = np.column_stack([Y[:, 0], np.ones(500, int), Y[:, 1]])
    with pytest.warns(UserWarning, match="one class in column 1"):
        model = GradientBoostingClassifier(**SETTINGS, multi_strategy=strategy).fit(X, target)

    assert [own.shape for own in model.predict_proba(X)] == [(500, 2), (500, 1), (500, 2)]
    assert (model.predict(X)[:, 1] == 1).all()
    if strategy == "one_tree_per_class":
        alone = GradientBoostingClassifier(**SETTINGS).fit(X, Y[:, 1])
        np.testing.assert_array_equal(model.predict_proba(X)[2], alone.predict_proba(X))
    assert model.explain(X[:5]).values.shape == (5, 10, 2)


def test_labels_that_all_rows_have_are_no_reason_to_fail(table: Any) -> None:
    X, _ = table
    with pytest.warns(UserWarning, match="one class in column 0"):
        model = GradientBoostingClassifier(**SETTINGS).fit(X, np.ones((500, 2), int))

    assert (model.predict(X) == 1).all()
    assert model.predict_proba(X)[1].shape == (500, 1)


def test_more_than_two_classes_in_a_column_are_refused(table: Any) -> None:
    X, Y = table
    with pytest.raises(InvalidInput, match=r"column 1 of y holds 3 classes, \[0, 1, 2\].*two classes"):
        GradientBoostingClassifier(**SETTINGS).fit(X, np.column_stack([Y[:, 0], Y[:, 0] + Y[:, 1]]))


def test_missing_labels_are_refused_with_their_column(table: Any) -> None:
    X, Y = table
    target = pd.DataFrame(np.array(["no", "yes"])[Y], columns=["rain", "wind", "snow", "sun"]).astype(object)
    target.loc[7, "snow"] = None
    with pytest.raises(InvalidInput, match=r"column 'snow' of y: .*row 7 is missing"):
        GradientBoostingClassifier(**SETTINGS).fit(X, target)


def test_tools_of_scikit_learn_take_it(table: Any) -> None:
    X, Y = np.nan_to_num(table[0]), table[1]
    model = GradientBoostingClassifier(**SETTINGS)
    shares = cross_val_predict(model, X, Y, cv=3, method="predict_proba")
    assert [own.shape for own in shares] == [(500, 2)] * 4
    assert f1_score(Y, model.fit(X, Y).predict(X), average="macro") > 0.8
    for wrapped in (ClassifierChain(model), MultiOutputClassifier(model), OneVsRestClassifier(model)):
        assert wrapped.fit(X, Y).predict(X).shape == (500, 4)
    independent = MultiOutputClassifier(model).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(independent, model.fit(X, Y).predict_proba(X))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"subsample": 0.5, "sampling_method": "gradient_based"},
        {"n_folds": 3, "growth": "mixed"},
        {"early_stopping": True, "refit": True},
        {"dropout_rate": 0.3},
        {"linear_leaves": True},
        {"class_weight": "balanced"},
        {"class_weight": [{0: 2.0}, None, "balanced", None]},
        {"scoring": "f1_macro", "early_stopping": True},
        {"loss": Focal(gamma=1.0)},
    ],
    ids=lambda choice: "-".join(choice) or "plain",
)
def test_threads_do_not_change_a_model(strategy: str, choice: dict[str, Any], table: Any) -> None:
    X, Y = table
    models = [
        GradientBoostingClassifier(**SETTINGS, **choice, multi_strategy=strategy, n_jobs=n_jobs).fit(X, Y)
        for n_jobs in (1, 3)
    ]

    assert f1_score(Y, models[0].predict(X), average="micro") > 0.7
    assert fingerprint(models[0]) == fingerprint(models[1])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_warm_start_and_a_checkpoint_are_one_longer_fit(strategy: str, table: Any, tmp_path: Any) -> None:
    X, Y = table
    model = GradientBoostingClassifier(
        n_estimators=7, multi_strategy=strategy, warm_start=True, random_state=0
    )
    model.fit(X, Y).set_params(n_estimators=15).fit(X, Y)
    longer = GradientBoostingClassifier(n_estimators=15, multi_strategy=strategy, random_state=0)
    assert fingerprint(model) == fingerprint(longer.fit(X, Y))

    kept = GradientBoostingClassifier(
        n_estimators=15, multi_strategy=strategy, random_state=0, checkpoint=tmp_path / "kept"
    ).fit(X, Y)
    again = GradientBoostingClassifier(
        n_estimators=15, multi_strategy=strategy, random_state=0, checkpoint=tmp_path / "kept"
    ).fit(X, Y, resume=True)
    assert fingerprint(kept) == fingerprint(again) == fingerprint(longer)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_eval_set_of_labels_says_when_to_stop(strategy: str, table: Any) -> None:
    X, Y = table
    model = GradientBoostingClassifier(
        n_estimators=300, multi_strategy=strategy, n_iter_no_change=5, random_state=0
    )
    model.fit(X[:350], Y[:350], eval_set=(X[350:], Y[350:]))
    losses = [
        np.mean([log_loss(a, b) for a, b in zip(Y[350:].T, stage, strict=True)])
        for stage in model.staged_predict_proba(X[350:])
    ]

    assert 5 < model.n_estimators_ < 300
    np.testing.assert_allclose(model.validation_losses_[: model.n_estimators_], losses, rtol=1e-5)
    stages = list(model.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    np.testing.assert_array_equal(stages[2], model.with_rounds(3).predict(X))
    with pytest.raises(InvalidInput, match=r"eval_set: y has the shape \(150, 3\); expected 4 columns"):
        model.fit(X[:350], Y[:350], eval_set=(X[350:], Y[350:, :3]))
    with pytest.raises(InvalidInput, match="eval_set: column 2 of y holds the label 3"):
        model.fit(X[:350], Y[:350], eval_set=(X[350:], Y[350:] + [0, 0, 3, 0] * (Y[350:] == 0)))


def test_weights_of_classes_count_in_an_eval_set_too(table: Any) -> None:
    X, Y = table
    weights: list[Any] = [{1: 3.0}, None, {0: 0.0, 1: 1.0}, "balanced"]
    model = GradientBoostingClassifier(**SETTINGS, class_weight=weights).fit(X, Y, eval_set=(X, Y))
    own = np.where(Y[:, 0] == 1, 3.0, 1.0) * (Y[:, 2] == 1)
    share = Y[:, 3].mean()
    own = own * np.where(Y[:, 3] == 1, 0.5 / share, 0.5 / (1 - share))
    losses = [
        log_loss(a, b, sample_weight=own, labels=[0, 1])
        for a, b in zip(Y.T, model.predict_proba(X), strict=True)
    ]

    assert model.validation_losses_[-1] == pytest.approx(np.mean(losses), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("linear_leaves", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_contributions_add_up_to_the_scores(strategy: str, linear_leaves: bool, table: Any) -> None:
    X, Y = table
    model = GradientBoostingClassifier(**SETTINGS, multi_strategy=strategy, linear_leaves=linear_leaves).fit(
        X, Y
    )
    found = model.explain(X[:30])

    assert found.outputs == ("y0: 1", "y1: 1", "y2: 1", "y3: 1")
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, model._raw_scores(X[:30], None), atol=1e-6
    )
    assert found.probabilities is not None
    np.testing.assert_allclose(
        found.probabilities, np.column_stack([own[:, 1] for own in model.predict_proba(X[:30])]), atol=1e-6
    )
    assert model.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_files_and_pickles_bring_the_model_back(strategy: str, table: Any) -> None:
    X, Y = table
    model = GradientBoostingClassifier(**SETTINGS, n_folds=2, multi_strategy=strategy).fit(X, Y)
    written = BytesIO()
    coterie.save(model, written)
    written.seek(0)

    for again in (coterie.load(written), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(again.oof_proba_, model.oof_proba_)


def test_a_start_from_other_models(table: Any) -> None:
    X, Y = table
    X = np.nan_to_num(X)
    for init in (
        RandomForestClassifier(10, random_state=0),
        OneVsRestClassifier(LogisticRegression(max_iter=500)),
    ):
        model = GradientBoostingClassifier(**SETTINGS, init=init).fit(X, Y)
        assert (model.predict(X) == Y).mean() > 0.9
    with pytest.raises(InvalidParameter, match="must implement predict_proba, because y has 4 columns"):
        GradientBoostingClassifier(init=OneVsRestClassifier(_Margins()), **SETTINGS).fit(X, Y)


class _Margins(LogisticRegression):
    @property
    def predict_proba(self) -> Any:  # type: ignore[override]
        raise AttributeError("predict_proba")


def test_categories_and_offsets_serve_all_labels() -> None:
    rng = np.random.default_rng(0)
    town = rng.choice([f"town {k}" for k in range(30)], 900)
    number = np.array([int(own.split()[1]) for own in town])
    target = np.column_stack([number % 2, number > 20])
    model = GradientBoostingClassifier(random_state=0, n_folds=2).fit({"town": town}, target)
    assert (model.predict({"town": town}) == target).mean() > 0.97
    assert model.statistics_ is not None
    assert len(model.statistics_.features) == 2

    offset = np.where(target == 1, 30.0, -30.0)
    X = rng.normal(size=(900, 2))
    started = GradientBoostingClassifier(**SETTINGS).fit(X, target, offset=offset)
    assert (started.predict(X, offset=offset) == target).all()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_scan_is_learned_as_the_table(strategy: str, table: Any) -> None:
    X, Y = table
    features = pd.DataFrame({f"x{number}": X[:, number] for number in range(1, 8)})
    names = ["a", "b", "c", "d"]
    both = features.assign(**dict(zip(names, Y.T, strict=True)))
    settings = {**SETTINGS, "multi_strategy": strategy}
    streamed = GradientBoostingClassifier(**settings).fit(coterie.scan(both, target=names))
    alone = GradientBoostingClassifier(**settings).fit(features, Y)

    np.testing.assert_array_equal(streamed.predict_proba(features), alone.predict_proba(features))


def test_what_is_about_one_target_is_refused(table: Any) -> None:
    X, Y = table
    model = GradientBoostingClassifier(**SETTINGS, n_folds=2).fit(X, Y)
    for ask in (lambda: model.predict_set(X), lambda: model.votes(X), lambda: model.report(X, Y)):
        with pytest.raises(InvalidInput, match="about one target"):
            ask()
    with pytest.raises(InvalidInput, match="fitted to 4 labels at once"):
        coterie.export.to_onnx(model)
    with pytest.raises(
        InvalidParameter, match="monotonic_cst is not supported with multi_strategy='shared_trees'"
    ):
        GradientBoostingClassifier(
            **SETTINGS, multi_strategy="shared_trees", monotonic_cst=[1] + [0] * 9
        ).fit(X, Y)


def test_a_loss_of_ones_own_learns_every_label(table: Any) -> None:
    X, Y = table
    own = CustomLoss(
        lambda y, score: np.logaddexp(0, score) - y * score,
        lambda y, score: 1 / (1 + np.exp(-score)) - y,
        lambda _, score: 1 / (1 + np.exp(-score)) / (1 + np.exp(score)),
    )
    for strategy in STRATEGIES:
        settings = {**SETTINGS, "multi_strategy": strategy}
        ours = GradientBoostingClassifier(**settings, loss=own).fit(X, Y)._raw_scores(X, None)
        named = GradientBoostingClassifier(**settings).fit(X, Y)._raw_scores(X, None)
        assert np.corrcoef(ours.ravel(), named.ravel())[0, 1] > 0.95
