"""When boosting stops, and who says so: rows left out, groups of them, the last ones, an eval set, or a score."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, r2_score, roc_auc_score

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie._params import root_seed
from coterie.data.holdout import holdout_rows
from coterie.errors import InvalidInput, InvalidParameter, InvalidType, SchemaMismatch
from tests.helpers.estimators import fingerprint

RNG = np.random.default_rng(0)
N = 400
X = RNG.normal(size=(N, 4))
SIGNAL = 2 * X[:, 0] + np.abs(X[:, 1])
NUMBERS = SIGNAL + RNG.normal(size=N)
LABELS = np.array(["no", "yes"])[(SIGNAL + RNG.normal(size=N) > 0.8).astype(int)]
MANY = np.array(["a", "b", "c"])[np.digitize(NUMBERS, [-1.0, 2.0])]
NEW = RNG.normal(size=(300, 4))
NEW_SIGNAL = 2 * NEW[:, 0] + np.abs(NEW[:, 1])
NEW_NUMBERS = NEW_SIGNAL + RNG.normal(size=300)
NEW_LABELS = np.array(["no", "yes"])[(NEW_SIGNAL + RNG.normal(size=300) > 0.8).astype(int)]
NEW_MANY = np.array(["a", "b", "c"])[np.digitize(NEW_NUMBERS, [-1.0, 2.0])]
WEIGHT = RNG.integers(0, 4, 300).astype(float)
QUICK: dict[str, Any] = {"n_estimators": 200, "learning_rate": 0.3, "n_iter_no_change": 5, "random_state": 0}


class Spy(RegressorMixin, BaseEstimator):
    """As `init` it sees the rows that a booster learns from, and says nothing of them."""

    def fit(self, X: Any, y: Any) -> "Spy":
        self.seen_ = X
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))


def half_squares(y: Any, said: Any, weight: Any = None) -> float:
    return float(np.average((y - said) ** 2, weights=weight)) / 2


# An eval set.


@pytest.mark.parametrize("wrapped", [lambda pair: pair, lambda pair: [pair]])
def test_an_eval_set_stops_at_its_best_round_and_the_rest_is_the_plain_fit(wrapped: Any) -> None:
    model = GradientBoostingRegressor(**QUICK).fit(X, NUMBERS, eval_set=wrapped((NEW, NEW_NUMBERS)))
    losses = model.validation_losses_

    assert model.n_estimators_ == losses.argmin() + 1 == len(losses) - 5
    full = GradientBoostingRegressor(**{**QUICK, "n_estimators": len(losses)}).fit(X, NUMBERS)
    assert_allclose(losses, [half_squares(NEW_NUMBERS, said) for said in full.staged_predict(NEW)])
    plain = GradientBoostingRegressor(**{**QUICK, "n_estimators": model.n_estimators_}).fit(X, NUMBERS)
    assert fingerprint(model) == fingerprint(plain)


@pytest.mark.parametrize(("y", "new_y"), [(LABELS, NEW_LABELS), (MANY, NEW_MANY)])
def test_an_eval_set_of_classes_measures_the_log_loss(y: Any, new_y: Any) -> None:
    model = GradientBoostingClassifier(**QUICK).fit(X, y, eval_set=(NEW, new_y, WEIGHT))
    full = GradientBoostingClassifier(**{**QUICK, "n_estimators": len(model.validation_losses_)}).fit(X, y)

    expected = [log_loss(new_y, said, sample_weight=WEIGHT) for said in full.staged_predict_proba(NEW)]
    assert_allclose(model.validation_losses_, expected, rtol=1e-6)
    assert model.n_estimators_ == np.argmin(expected) + 1


def test_rows_of_an_eval_set_without_weight_do_not_count() -> None:
    strange = np.where(WEIGHT > 0, NEW_NUMBERS, 1e6)
    weighted = GradientBoostingRegressor(**QUICK).fit(X, NUMBERS, eval_set=(NEW, strange, WEIGHT))
    ones = (WEIGHT > 0).astype(float)
    rows = WEIGHT > 0
    without = GradientBoostingRegressor(**QUICK).fit(X, NUMBERS, eval_set=(NEW[rows], NEW_NUMBERS[rows]))

    again = GradientBoostingRegressor(**QUICK).fit(X, NUMBERS, eval_set=(NEW, strange, ones))
    assert_allclose(again.validation_losses_, without.validation_losses_)
    assert weighted.validation_losses_[0] != pytest.approx(without.validation_losses_[0])


def test_class_weights_count_in_the_loss_of_an_eval_set() -> None:
    weights = {"no": 1.0, "yes": 5.0}
    model = GradientBoostingClassifier(class_weight=weights, **QUICK)
    model.fit(X, LABELS, eval_set=(NEW, NEW_LABELS))
    by_row = np.where(NEW_LABELS == "yes", 5.0, 1.0)

    said = list(model.staged_predict_proba(NEW))[-1]
    expected = log_loss(NEW_LABELS, said, sample_weight=by_row)
    assert model.validation_losses_.min() == pytest.approx(expected)


def test_each_group_is_evaluated_by_the_mean_of_its_boosters() -> None:
    model = GradientBoostingRegressor(n_folds=4, growth="mixed", max_features=0.5, warm_start=True, **QUICK)
    model.fit(X, NUMBERS, eval_set=(NEW, NEW_NUMBERS))
    boosters = model._previous_fit().state.trees()

    assert model.rounds_[0] == model.rounds_[1] != model.rounds_[2] == model.rounds_[3]
    kept = []
    for group in (boosters[:2], boosters[2:]):
        forest = type(model.forest_)(4, 1)
        for booster in group:
            for (tree,) in booster:
                forest.add(tree)
        added = np.zeros(300)
        forest.add_scores(NEW, np.zeros(4, np.int32), added, 1)
        kept.append(half_squares(NEW_NUMBERS, model.baseline_[0] + added / 2))
    assert model.validation_losses_[-1] >= np.mean(kept) - 1e-12
    assert model.validation_losses_.min() == pytest.approx(np.mean(kept), rel=0.02)
    assert not hasattr(model, "oof_prediction_")


def test_all_bags_learn_from_all_rows_beside_an_eval_set() -> None:
    model = GradientBoostingRegressor(init=Spy(), n_folds=3, max_features=0.5, **QUICK)
    model.fit(X, NUMBERS, eval_set=(NEW, NEW_NUMBERS))

    assert [len(spy.seen_) for spy in model.init_] == [N, N, N]


def test_an_eval_set_has_categories_statistics_and_missing_values() -> None:
    towns = np.array([f"town {i}" for i in range(40)], dtype=object)
    table = {"size": X[:, 0], "town": towns[RNG.integers(0, 30, N)]}
    new = {"size": NEW[:, 0], "town": towns[RNG.integers(0, 40, 300)]}
    new["town"][:20] = None
    model = GradientBoostingRegressor(random_state=0).fit(table, NUMBERS, eval_set=(new, NEW_NUMBERS))

    assert model.statistics_ is not None
    assert model.n_estimators_ < 1000
    assert min(model.validation_losses_) < model.validation_losses_[0]


def test_offset_and_init_are_the_start_of_an_eval_set_too() -> None:
    offset, new_offset = RNG.normal(size=N), RNG.normal(size=300)
    for settings in ({}, {"init": LinearRegression()}):
        model = GradientBoostingRegressor(**settings, **QUICK)
        model.fit(X, NUMBERS, offset=offset, eval_set=(NEW, NEW_NUMBERS, None, new_offset))
        said = model.predict(NEW, offset=new_offset)

        assert min(model.validation_losses_) == pytest.approx(half_squares(NEW_NUMBERS, said))
    with pytest.raises(InvalidInput, match="offset, and eval_set was not"):
        model.fit(X, NUMBERS, offset=offset, eval_set=(NEW, NEW_NUMBERS))


def test_without_early_stopping_an_eval_set_is_only_measured() -> None:
    settings = {**QUICK, "n_estimators": 60, "early_stopping": False}
    model = GradientBoostingRegressor(**settings).fit(X, NUMBERS, eval_set=(NEW, NEW_NUMBERS))

    assert model.n_estimators_ == len(model.validation_losses_) == 60
    assert fingerprint(model) == fingerprint(GradientBoostingRegressor(**settings).fit(X, NUMBERS))


@pytest.mark.parametrize(
    ("eval_set", "kind", "message"),
    [
        (NEW, InvalidType, r"eval_set=.*expected a tuple \(X, y\)"),
        ((NEW,), InvalidType, r"expected a tuple"),
        ({}, InvalidType, "a dict of sets by their names"),
        ({1: (NEW, NEW_LABELS)}, InvalidType, "a dict of sets by their names"),
        ((NEW[:, :3], NEW_LABELS), SchemaMismatch, "eval_set: X has 3 features, but Gradient.*expecting 4"),
        ((NEW, NEW_LABELS[:-1]), InvalidInput, r"eval_set: .*inconsistent.*\[300, 299\]"),
        ((NEW, NEW_LABELS, WEIGHT[1:]), InvalidInput, r"eval_set: .*inconsistent"),
        ((NEW, NEW_LABELS, -WEIGHT), InvalidInput, "eval_set: .*Negative values"),
        ((NEW, [*NEW_LABELS[1:], "maybe"]), InvalidInput, r"eval_set: .*'maybe' in row 299.*\['no', 'yes'\]"),
        ((NEW, [None, *NEW_LABELS[1:]]), InvalidInput, "eval_set: .*NaN.*row 0"),
        ((NEW, None), InvalidInput, "eval_set: .*y is None"),
    ],
)
def test_an_eval_set_that_cannot_be_is_refused(eval_set: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=f"(?s){message}"):
        GradientBoostingClassifier(**QUICK).fit(X, LABELS, eval_set=eval_set)


def test_targets_of_an_eval_set_must_suit_the_loss() -> None:
    with pytest.raises(InvalidInput, match="eval_set: Input y contains NaN"):
        GradientBoostingRegressor(**QUICK).fit(X, NUMBERS, eval_set=(X, np.full(N, np.nan)))
    with pytest.raises(InvalidInput, match=r"eval_set: loss='poisson' needs targets.*-1 in row 0"):
        GradientBoostingRegressor(loss="poisson", **QUICK).fit(
            X, X[:, 0] ** 2, eval_set=(X, np.full(N, -1.0))
        )


# Groups and last rows.


def test_a_group_is_left_out_as_a_whole() -> None:
    groups = RNG.integers(0, 20, N)
    tagged = np.column_stack([X, groups])
    model = GradientBoostingRegressor(init=Spy(), early_stopping=True, **QUICK)
    model.fit(tagged, NUMBERS, groups=[f"patient {group}" for group in groups])

    seen = set(model.init_[0].seen_[:, -1])
    assert 0 < len(model.init_[0].seen_) < N
    assert len(model.init_[0].seen_) == np.isin(groups, list(seen)).sum()


@pytest.mark.parametrize("weight", [None, RNG.integers(0, 2, N).astype(float)])
def test_each_bag_leaves_groups_of_its_own_out(weight: Any) -> None:
    groups = RNG.integers(0, 9, N)
    groups[weight == 0] = 9  # a group that nobody needs to leave out
    model = GradientBoostingClassifier(n_folds=3, max_features=0.5, **QUICK)
    model.fit(X, LABELS, weight, groups=groups)
    left_out = np.isfinite(model.oof_proba_[:, 0])

    assert_array_equal(left_out, np.ones(N, bool) if weight is None else weight > 0)
    spied = GradientBoostingRegressor(init=Spy(), n_folds=3, **QUICK)
    spied.fit(np.column_stack([X, groups]), NUMBERS, groups=groups)
    folds = [set(groups) - set(spy.seen_[:, -1]) for spy in spied.init_]
    assert all(folds)
    assert sorted(group for fold in folds for group in fold) == sorted(set(groups))


def test_the_last_rows_can_be_the_ones_left_out() -> None:
    settings = {"holdout": "last_rows", "validation_fraction": 0.25, **QUICK}
    model = GradientBoostingRegressor(init=Spy(), early_stopping=True, **settings).fit(X, NUMBERS)

    assert_array_equal(model.init_[0].seen_, X[:300])
    said = model.predict(X[300:])
    assert model.validation_losses_.min() == pytest.approx(half_squares(NUMBERS[300:], said), rel=1e-5)


def test_bags_that_leave_the_last_rows_out_differ_by_their_seeds() -> None:
    model = GradientBoostingRegressor(
        n_folds=3, early_stopping=True, holdout="last_rows", max_features=0.5, warm_start=True, **QUICK
    ).fit(X, NUMBERS)

    assert np.isnan(model.oof_prediction_[:360]).all()
    assert_allclose(model.oof_prediction_[360:], model.predict(X[360:]), rtol=1e-12)
    first, second, _ = model._previous_fit().state.trees()
    assert first[0][0].threshold.tolist() != second[0][0].threshold.tolist()


def test_without_early_stopping_the_last_rows_are_learned_from() -> None:
    settings = {**QUICK, "n_estimators": 10, "n_folds": 2}
    model = GradientBoostingRegressor(init=Spy(), holdout="last_rows", **settings).fit(X, NUMBERS)

    assert [len(spy.seen_) for spy in model.init_] == [N, N]


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"early_stopping": True, "holdout": "last_rows"}, {}, "last_rows.*cuts the table at one row"),
        ({}, {}, "need a validation split.*early_stopping is off"),
        (
            {"early_stopping": True},
            {"eval_set": (NEW, NEW_NUMBERS)},
            "has none: it is evaluated on the eval_set",
        ),
        ({"early_stopping": True}, {"groups": np.zeros(N)}, "all rows are of one group"),
        ({"n_folds": 5}, {"groups": np.arange(N) % 4}, r"4 group\(s\) among 5 boosters"),
        ({"early_stopping": True}, {"groups": np.arange(N - 1)}, r"shape \(399,\); expected \(400,\)"),
        ({"early_stopping": True}, {"groups": [None, *range(N - 1)]}, "group of row 0 is missing"),
        ({"early_stopping": True}, {"groups": "Ann"}, "groups='Ann'"),
    ],
)
def test_groups_that_cannot_be_are_refused(settings: Any, given: Any, message: str) -> None:
    model = GradientBoostingRegressor(**settings, **QUICK)
    with pytest.raises(InvalidInput, match=message):
        model.fit(X, NUMBERS, **{"groups": np.arange(N) // 10, **given})


# Scores.


def test_a_named_score_of_the_rows_left_out_decides() -> None:
    settings = {"early_stopping": True, "validation_fraction": 0.3, **QUICK}
    model = GradientBoostingClassifier(scoring="roc_auc", **settings).fit(X, LABELS)
    full = GradientBoostingClassifier(**{**settings, "n_iter_no_change": 500}).fit(X, LABELS)
    codes = (LABELS == "yes").astype(int)
    _, aside = holdout_rows(N, 0.3, root_seed(0), codes)

    expected = [roc_auc_score(codes[aside], said[aside]) for said in full.staged_decision_function(X)]
    scores = model.validation_scores_
    assert_allclose(scores, expected[: len(scores)], rtol=1e-6)
    assert model.n_estimators_ == scores.argmax() + 1 == len(scores) - 5
    assert_array_equal(model.validation_losses_, full.validation_losses_[: len(scores)])


@pytest.mark.parametrize(
    ("scoring", "expected"),
    [
        ("accuracy", lambda y, model, X: accuracy_score(y, model.predict(X))),
        (
            lambda model, X, y: model.score(X, y),
            lambda y, model, X: accuracy_score(y, model.predict(X)),
        ),
        ("balanced_accuracy", lambda y, model, X: balanced_accuracy_score(y, model.predict(X))),
        ("neg_log_loss", lambda y, model, X: -log_loss(y, model.predict_proba(X))),
        ("roc_auc_ovr", lambda y, model, X: roc_auc_score(y, model.predict_proba(X), multi_class="ovr")),
    ],
)
def test_any_scorer_can_score_an_eval_set(scoring: Any, expected: Any) -> None:
    model = GradientBoostingClassifier(scoring=scoring, **QUICK).fit(X, MANY, eval_set=(NEW, NEW_MANY))

    assert model.n_estimators_ > 0
    assert model.validation_scores_.max() == pytest.approx(expected(NEW_MANY, model, NEW))


def test_a_scorer_gets_the_weights_of_the_eval_set() -> None:
    model = GradientBoostingRegressor(scoring="r2", **QUICK).fit(
        X, NUMBERS, eval_set=(NEW, NEW_NUMBERS, WEIGHT)
    )

    expected = r2_score(NEW_NUMBERS, model.predict(NEW), sample_weight=WEIGHT)
    assert model.validation_scores_.max() == pytest.approx(expected)


def test_a_score_of_several_bags_is_taken_of_all_rows_left_out() -> None:
    seen: list[int] = []

    def mean_error(model: Any, X: Any, y: Any) -> float:
        seen.append(len(y))
        assert X.shape == (len(y), 4)
        return -float(np.abs(model.predict(X) - y).mean())

    model = GradientBoostingRegressor(
        scoring=mean_error, n_folds=4, early_stopping=True, max_features=0.5, **QUICK
    )
    model.fit(X, NUMBERS)

    assert set(seen) == {N}
    error = np.abs(model.oof_prediction_ - NUMBERS).mean()
    assert model.validation_scores_.max() == pytest.approx(-error, rel=1e-5)
    mixed = GradientBoostingRegressor(
        scoring=mean_error, n_folds=4, growth="mixed", early_stopping=True, **QUICK
    ).fit(X, NUMBERS)
    assert set(seen) == {N, N // 2}
    assert len(mixed.validation_scores_) == len(mixed.validation_losses_)


def test_a_scorer_may_ask_only_about_its_rows() -> None:
    def nosy(model: Any, X: Any, y: Any) -> float:
        return float((model.predict(X[:10]) - y[:10]).mean())

    with pytest.raises(InvalidParameter, match=r"scoring=.*another table"):
        GradientBoostingRegressor(scoring=nosy, early_stopping=True, **QUICK).fit(X, NUMBERS)


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (lambda *_: float("nan"), "is nan on the 40 rows"),
        (lambda *_: 1 / 0, "ZeroDivisionError"),
        ("neg_log_loss", "predict_proba"),
    ],
)
def test_a_score_that_cannot_be_taken_is_an_error(scoring: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"scoring=.*{message}"):
        GradientBoostingRegressor(scoring=scoring, early_stopping=True, **QUICK).fit(X, NUMBERS)


def test_scoring_leaves_nothing_of_its_view_in_the_model() -> None:
    model = GradientBoostingRegressor(scoring="r2", early_stopping=True, **QUICK).fit(X, NUMBERS)

    assert "_raw_scores" not in vars(model)
    assert model.score(X, NUMBERS) > 0.5
    assert not hasattr(model.set_params(scoring=None).fit(X, NUMBERS), "validation_scores_")
    model.set_params(early_stopping=False, n_estimators=3).fit(X, NUMBERS)
    assert not hasattr(model, "validation_losses_")


# Once more on all rows.


def test_refit_grows_the_rounds_that_were_found_on_all_rows() -> None:
    stopped = GradientBoostingClassifier(early_stopping=True, **QUICK).fit(X, MANY)
    model = GradientBoostingClassifier(early_stopping=True, refit=True, **QUICK).fit(X, MANY)

    plain = GradientBoostingClassifier(**{**QUICK, "n_estimators": stopped.n_estimators_}).fit(X, MANY)
    assert model.n_estimators_ == stopped.n_estimators_
    assert fingerprint(model) == fingerprint(plain) != fingerprint(stopped)
    assert_array_equal(model.validation_losses_, stopped.validation_losses_)
    assert_array_equal(model.baseline_, plain.baseline_)


def test_refit_of_several_bags_grows_each_of_them_on_all_rows() -> None:
    settings = {"n_folds": 4, "growth": "mixed", "early_stopping": True, "init": Spy(), **QUICK}
    stopped = GradientBoostingRegressor(**settings).fit(X, NUMBERS)
    model = GradientBoostingRegressor(refit=True, **settings).fit(X, NUMBERS)

    assert_array_equal(model.rounds_, stopped.rounds_)
    assert_array_equal(model.fold_weights_, stopped.fold_weights_)
    assert len(set(model.fold_weights_)) == 2
    assert_array_equal(model.oof_prediction_, stopped.oof_prediction_)
    assert [len(spy.seen_) for spy in stopped.init_] == [300] * 4
    assert [len(spy.seen_) for spy in model.init_] == [N] * 4


# The same bits.


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ({}, {"eval_set": (NEW, NEW_MANY)}),
        ({"n_folds": 3, "max_features": 0.5}, {"eval_set": (NEW, NEW_MANY)}),
        (
            {"n_folds": 4, "growth": "mixed", "early_stopping": True, "refit": True},
            {"groups": np.arange(N) // 7},
        ),
        ({"n_folds": 3, "early_stopping": True, "holdout": "last_rows", "scoring": "accuracy"}, {}),
    ],
)
def test_threads_do_not_change_when_to_stop(settings: Any, given: Any) -> None:
    models = [
        GradientBoostingClassifier(n_jobs=n_jobs, **settings, **QUICK).fit(X, MANY, **given)
        for n_jobs in (1, 2, 3)
    ]

    assert len({fingerprint(model) for model in models}) == 1
    for model in models[1:]:
        assert_array_equal(model.validation_losses_, models[0].validation_losses_)
