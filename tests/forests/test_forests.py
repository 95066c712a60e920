"""Forests: the mean of their trees, what they say out of bag, and how many trees there are."""

import re
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, make_scorer, r2_score

from coterie import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.datasets import make_messy
from coterie.errors import InvalidInput, InvalidParameter, SchemaMismatch
from coterie.forests.growth import has_settled
from tests.naive.forest_oob import answers_of_trees, naive_oob

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
ALL = CLASSIFIERS + REGRESSORS


def table(n_rows: int = 120, seed: int = 0) -> tuple[Any, Any, Any]:
    """Numbers with missing values, two columns of whole numbers, and a target with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 3:] = rng.integers(0, 4, (n_rows, 2))
    score = X[:, 0] + (X[:, 3] == 2) - X[:, 1] * (X[:, 4] > 1) + 0.3 * rng.normal(size=n_rows)
    X[rng.random(n_rows) < 0.1, 0] = np.nan
    return X, score, rng.integers(0, 4, n_rows).astype(float)


def target(kind: str, score: Any) -> Any:
    return {
        "numbers": score,
        "two numbers": np.column_stack([score, score**2]),
        "two classes": np.where(score > 0, "yes", "no"),
        "four classes": np.digitize(score, [-1, 0, 1]),
        "labels": np.column_stack([score > 0, score > 1, score**2 > 1]).astype(int),
        "two outputs": np.column_stack([np.digitize(score, [-1, 0, 1]), score > 0.5]),
    }[kind]


CASES = [
    (forest, kind)
    for forest in ALL
    for kind in (
        ["numbers", "two numbers"]
        if forest in REGRESSORS
        else ["two classes", "four classes", "labels", "two outputs"]
    )
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("forest", "kind"), CASES)
def test_out_of_bag_is_what_the_trees_say_of_rows_they_did_not_draw(
    forest: Any, kind: str, weighted: bool
) -> None:
    X, score, weight = table()
    y = target(kind, score)
    model = forest(n_estimators=5, bootstrap=True, random_state=1)

    model.fit(X, y, sample_weight=weight if weighted else None)
    means, coverage = naive_oob(model, X, weight if weighted else np.ones(len(X)))

    np.testing.assert_array_equal(model.oob_coverage_, coverage)
    np.testing.assert_array_equal(model._oob.means, means)
    shown = model.oob_decision_function_ if forest in CLASSIFIERS else model.oob_prediction_
    together = np.concatenate(shown, axis=1) if isinstance(shown, list) else shown.reshape(len(X), -1)
    np.testing.assert_array_equal(together, means)
    assert 0 < np.isnan(means[:, 0]).sum() < 0.7 * len(X)
    assert np.isnan(means[weight == 0]).all() or not weighted


@pytest.mark.parametrize(("forest", "kind"), CASES)
def test_the_forest_says_the_mean_of_its_trees(forest: Any, kind: str) -> None:
    X, score, _ = table()
    model = forest(n_estimators=7, random_state=0).fit(X, target(kind, score))

    mean = answers_of_trees(model, X).mean(axis=1)

    said = model.predict_proba(X) if forest in CLASSIFIERS else model.predict(X)
    said = np.concatenate(said, axis=1) if isinstance(said, list) else said.reshape(len(X), -1)
    np.testing.assert_allclose(said, mean, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("forest", CLASSIFIERS)
def test_several_outputs_come_as_lists(forest: Any) -> None:
    X, score, _ = table()
    y = target("two outputs", score)
    model = forest(n_estimators=10, random_state=0).fit(X, y)

    assert [own.tolist() for own in model.classes_] == [[0, 1, 2, 3], [0, 1]]
    assert model.n_classes_ == [4, 2]
    assert [part.shape for part in model.predict_proba(X)] == [(120, 4), (120, 2)]
    assert [part.shape for part in model.predict_log_proba(X)] == [(120, 4), (120, 2)]
    assert model.predict(X).shape == (120, 2)
    assert (model.predict(X) == y).mean() > 0.9


def test_the_score_is_that_of_the_covered_rows() -> None:
    X, score, weight = table()
    classes, numbers = target("four classes", score), score

    forest = RandomForestClassifier(n_estimators=8, random_state=0).fit(X, classes, sample_weight=weight)
    covered = forest.oob_coverage_ > 0
    said = forest.classes_[forest.oob_decision_function_[covered].argmax(axis=1)]
    expected = accuracy_score(classes[covered], said, sample_weight=weight[covered])
    assert forest.oob_score_ == pytest.approx(expected, abs=1e-12)
    assert forest.oob_errors_[-1] == pytest.approx(1 - expected, abs=1e-12)

    forest = RandomForestRegressor(n_estimators=8, random_state=0).fit(X, numbers)
    covered = forest.oob_coverage_ > 0
    said = forest.oob_prediction_[covered]
    assert forest.oob_score_ == pytest.approx(r2_score(numbers[covered], said), abs=1e-12)
    assert forest.oob_errors_[-1] == pytest.approx(((numbers[covered] - said) ** 2).mean(), abs=1e-12)


def test_the_score_is_any_metric_scorer_or_name() -> None:
    X, score, _ = table()
    y = target("two classes", score)
    common = {"n_estimators": 40, "random_state": 0}
    proba = RandomForestClassifier(**common).fit(X, y).oob_decision_function_
    assert not np.isnan(proba).any()

    def wrong(y_true: Any, y_pred: Any) -> float:
        return float((y_true != y_pred).mean())

    by_name = RandomForestClassifier(**common, oob_score="neg_log_loss").fit(X, y)
    by_scorer = RandomForestClassifier(
        **common, oob_score=make_scorer(log_loss, response_method="predict_proba")
    )
    by_function = RandomForestClassifier(**common, oob_score=wrong).fit(X, y)

    assert by_name.oob_score_ == pytest.approx(-log_loss(y, proba))
    assert by_scorer.fit(X, y).oob_score_ == pytest.approx(log_loss(y, proba))
    assert by_function.oob_score_ == pytest.approx(
        1 - accuracy_score(y, by_name.classes_[proba.argmax(axis=1)])
    )


def test_a_score_that_cannot_be_computed_says_so() -> None:
    X, score, _ = table()
    model = RandomForestClassifier(n_estimators=40, oob_score="neg_mean_gamma_deviance", random_state=0)

    with pytest.raises(
        InvalidParameter, match=r"oob_score='neg_mean_gamma_deviance' cannot score the 120 rows"
    ):
        model.fit(X, target("two classes", score))


def test_rows_that_no_tree_left_out_are_counted_in_a_warning() -> None:
    X, score, _ = table()
    model = RandomForestRegressor(n_estimators=4, oob_score=True, random_state=0)

    with pytest.warns(UserWarning, match=r"rows were drawn by each of the 4 trees") as caught:
        model.fit(X, score)

    number = re.search(r"(\d+) of 120 rows", str(caught[0].message))
    assert number is not None
    assert int(number[1]) == (model.oob_coverage_ == 0).sum() > 0


def test_labels_are_scored_row_by_row() -> None:
    X, score, _ = table()
    y = target("labels", score)
    model = RandomForestClassifier(n_estimators=30, random_state=0).fit(X, y)

    said = np.column_stack([part.argmax(axis=1) for part in model.oob_decision_function_])

    assert model.oob_score_ == pytest.approx((said == y).all(axis=1).mean())


def test_errors_out_of_bag_are_those_after_each_tree() -> None:
    X, score, _ = table()
    y = target("four classes", score)
    model = RandomForestClassifier(n_estimators=9, random_state=0, warm_start=True)

    for n_trees in (3, 6, 9):
        shorter = RandomForestClassifier(n_estimators=n_trees, random_state=0).fit(X, y)
        model.set_params(n_estimators=n_trees).fit(X, y)
        assert model.oob_errors_[-1] == pytest.approx(1 - shorter.oob_score_, abs=1e-12)
    np.testing.assert_allclose(model.oob_errors_, shorter.oob_errors_, rtol=1e-12)


def test_without_a_bag_nothing_is_known_out_of_bag() -> None:
    X, score, _ = table()
    for model in (ExtraTreesRegressor(5), RandomForestRegressor(5, oob_score=False)):
        model.fit(X, score)
        for name in (
            "oob_score_",
            "oob_prediction_",
            "oob_errors_",
            "oob_coverage_",
            "unbiased_importances_",
        ):
            assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=r"oob_prediction_ is not known.*oob_score=True"):
            _ = model.oob_prediction_


@pytest.mark.parametrize(("forest", "kind"), CASES)
def test_a_warm_start_is_one_longer_fit(forest: Any, kind: str) -> None:
    X, score, weight = table()
    y = target(kind, score)
    one_go = forest(n_estimators=11, bootstrap=True, random_state=3).fit(X, y, sample_weight=weight)

    warm = forest(n_estimators=4, bootstrap=True, random_state=3, warm_start=True)
    warm.fit(X, y, sample_weight=weight).set_params(n_estimators=11, n_jobs=2).fit(X, y, sample_weight=weight)

    for own, other in zip(warm.estimators_, one_go.estimators_, strict=True):
        assert own.tree_ == other.tree_
    np.testing.assert_array_equal(warm.oob_coverage_, one_go.oob_coverage_)
    np.testing.assert_allclose(warm._oob.means, one_go._oob.means, rtol=1e-12)
    np.testing.assert_allclose(warm.oob_errors_, one_go.oob_errors_, rtol=1e-12)
    np.testing.assert_allclose(warm.feature_importances_, one_go.feature_importances_, rtol=1e-12)
    np.testing.assert_allclose(warm.unbiased_importances_, one_go.unbiased_importances_, rtol=1e-12)
    np.testing.assert_array_equal(warm.oob_importances().importances, one_go.oob_importances().importances)
    for own, other in zip(warm.estimators_samples_, one_go.estimators_samples_, strict=True):
        np.testing.assert_array_equal(own, other)


def test_a_warm_start_refuses_other_data_and_leaves_the_forest_as_it_was() -> None:
    X, score, _ = table()
    y = target("two classes", score)
    model = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(n_estimators=8)

    refused: list[tuple[Any, Any, type[Exception], str]] = [
        (X + 1, y, InvalidInput, "differs in X"),
        (X, np.roll(y, 1), InvalidInput, "differs in y"),
        (X, np.where(y == "no", "never", y), InvalidInput, "classes"),
        (X[:, :4], y, SchemaMismatch, "columns"),
    ]
    for other, labels, error, message in refused:
        with pytest.raises(error, match=message):
            model.fit(other, labels)
    with pytest.raises(InvalidParameter, match="n_estimators=3 is less than the 5 trees"):
        model.set_params(n_estimators=3).fit(X, y)
    with pytest.raises(InvalidParameter, match="bootstrap or max_samples was changed"):
        model.set_params(n_estimators=8, max_samples=0.5).fit(X, y)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.set_params(n_estimators=5, max_samples=None).fit(X, y)

    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert len(model.estimators_) == model.n_estimators_ == 5


def test_auto_stops_when_the_error_has_settled() -> None:
    X, score, _ = table(400)
    settled = [
        RandomForestRegressor("auto", random_state=0, n_jobs=n_jobs).fit(X, score) for n_jobs in (1, 2, 3)
    ]

    errors, n_trees = settled[0].oob_errors_, settled[0].n_estimators_
    assert 50 <= n_trees < 1000
    assert n_trees % 25 == 0
    assert has_settled(errors)
    assert not any(has_settled(errors[:k]) for k in range(25, n_trees, 25))
    for other in settled[1:]:
        np.testing.assert_array_equal(other.oob_errors_, errors)
    fixed = RandomForestRegressor(n_trees, random_state=0).fit(X, score)
    np.testing.assert_array_equal(fixed.predict(X), settled[0].predict(X))


@pytest.mark.parametrize("n_jobs", [2, 3, 8])
def test_threads_change_no_bit_out_of_bag(n_jobs: int) -> None:
    X, score, weight = table(500)
    one, more = (
        RandomForestRegressor(10, random_state=0, n_jobs=jobs).fit(X, score, sample_weight=weight)
        for jobs in (1, n_jobs)
    )

    np.testing.assert_array_equal(one.oob_prediction_, more.oob_prediction_)
    np.testing.assert_array_equal(one.oob_errors_, more.oob_errors_)
    np.testing.assert_array_equal(one.unbiased_importances_, more.unbiased_importances_)
    np.testing.assert_array_equal(
        one.oob_importances(2).importances_mean, more.oob_importances(2).importances_mean
    )
    np.testing.assert_array_equal(one.predict_interval(X), more.predict_interval(X))
    np.testing.assert_array_equal(one.predict_quantiles(X, 0.3), more.predict_quantiles(X, 0.3))


def test_the_order_of_rows_does_not_matter() -> None:
    X, score, _ = table()
    order = np.random.default_rng(4).permutation(len(X))

    one = RandomForestRegressor(8, random_state=0).fit(X, score)
    other = RandomForestRegressor(8, random_state=0).fit(X[order], score[order])

    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.oob_prediction_[order], other.oob_prediction_)


def test_members_are_decision_trees() -> None:
    X, y = make_messy(300, random_state=0)
    model = RandomForestClassifier(6, max_depth=4, random_state=0).fit(X, y)
    member = model.estimators_[2]

    assert isinstance(member, DecisionTreeClassifier)
    assert len(model.estimators_) == len(list(model.estimators_)) == len(model.estimators_[:]) == 6
    assert model.estimators_[-1].tree_ == model.estimators_[5].tree_
    np.testing.assert_array_equal(model.apply(X)[:, 2], member.apply(X))
    assert "leaf" in member.to_text()
    assert "<svg" in str(member.to_svg().svg)
    assert member.feature_importances_.sum() == pytest.approx(1)
    assert isinstance(
        RandomForestRegressor(2).fit([[0.0], [1.0]], [0, 1]).estimators_[0], DecisionTreeRegressor
    )
    with pytest.raises(IndexError, match="tree 6 of a forest of 6"):
        model.estimators_[6]


@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "gini", "entropy"])
def test_importances_are_the_mean_of_those_of_the_trees(criterion: str) -> None:
    X, score, _ = table(300)
    forest: Any = (
        RandomForestRegressor if criterion in ("squared_error", "poisson") else RandomForestClassifier
    )
    y = np.exp(score) if forest is RandomForestRegressor else target("four classes", score)
    model = forest(12, criterion=criterion, max_depth=5, random_state=0).fit(X, y)

    mean = np.mean([member.feature_importances_ for member in model.estimators_], axis=0)

    np.testing.assert_allclose(
        model.feature_importances_, mean, atol=2e-3
    )  # trees are packed with rounded weights
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert mean.max() > 0.2


def test_paths_lead_to_the_leaves() -> None:
    X, score, _ = table()
    model = ExtraTreesRegressor(4, random_state=0).fit(X, score)

    paths, starts = model.decision_path(X)

    assert paths.shape == (120, starts[-1])
    assert starts.tolist() == np.cumsum([0, *model.forest_.n_nodes]).tolist()
    rows = np.arange(120)
    for tree, leaves in enumerate(model.apply(X).T):
        assert (np.asarray(paths[rows, starts[tree] + leaves]) == 1).all()
        assert (np.asarray(paths[:, starts[tree]].todense()) == 1).all()


def test_growing_can_be_watched(capsys: pytest.CaptureFixture[str]) -> None:
    X, score, _ = table()
    RandomForestRegressor(20, random_state=0).fit(X, score)
    assert capsys.readouterr().out == ""

    RandomForestRegressor(20, verbose=1, random_state=0).fit(X, score)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert re.fullmatch(r"20 of 20 trees, out-of-bag error 0\.\d+", lines[-1])

    ExtraTreesRegressor(3, verbose=2, random_state=0).fit(X, score)
    assert capsys.readouterr().out.splitlines() == ["1 of 3 trees", "2 of 3 trees", "3 of 3 trees"]
