"""A loss of one's own: the same as a built-in one where there is one, and every mistake by its name."""

import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import CustomLoss, InitScore, derivative_check
from coterie.losses.formulas import _downhill

RNG = np.random.default_rng(0)
N = 300
X = RNG.normal(size=(N, 3))
COUNTS = RNG.poisson(np.exp(X[:, 0])).astype(float)
NUMBERS = X[:, 0] + RNG.normal(size=N)
CODES = (NUMBERS > 0.3).astype(int)
WEIGHT = RNG.integers(0, 3, N).astype(float)


def square(y: Any, score: Any) -> Any:
    return (score - y) ** 2 / 2


def slope_of_square(y: Any, score: Any) -> Any:
    return score - y


def ones(y: Any, _: Any) -> Any:
    return np.ones(len(y))


SQUARED = CustomLoss(square, slope_of_square)
POISSON = CustomLoss(
    lambda y, s: np.exp(s) - y * s, lambda y, s: np.exp(s) - y, lambda _, s: np.exp(s), inverse_link=np.exp
)
LOG_LOSS = CustomLoss(
    lambda y, s: np.logaddexp(0, s) - y * s, lambda y, s: expit(s) - y, lambda _, s: expit(s) * expit(-s)
)
EXPONENTIAL = CustomLoss(
    lambda y, s: np.exp((1 - 2 * y) * s),
    lambda y, s: (1 - 2 * y) * np.exp((1 - 2 * y) * s),
    lambda y, s: np.exp((1 - 2 * y) * s),
    inverse_link=lambda s: expit(2 * s),
)
CAUCHY = CustomLoss(
    lambda y, s: np.log1p((s - y) ** 2) / 2,
    lambda y, s: (s - y) / (1 + (s - y) ** 2),
    lambda y, s: (1 - (s - y) ** 2) / (1 + (s - y) ** 2) ** 2,
)
PINBALL = CustomLoss(
    lambda y, s: np.maximum(0.3 * (y - s), -0.7 * (y - s)), lambda y, s: np.where(y > s, -0.3, 0.7)
)


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("custom", "name", "y"), [(SQUARED, "squared_error", NUMBERS), (POISSON, "poisson", COUNTS)]
)
def test_a_regressor_is_the_one_with_the_built_in_loss(
    custom: Any, name: str, y: Any, weight: Any, early_stopping: bool
) -> None:
    ours, theirs = (
        GradientBoostingRegressor(
            loss=loss, n_estimators=20, early_stopping=early_stopping, min_child_weight=0.0, random_state=0
        ).fit(X, y, weight)
        for loss in (custom, name)
    )
    assert_allclose(ours.baseline_, theirs.baseline_, atol=1e-9)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4, atol=1e-5)
    if early_stopping:
        assert_allclose(ours.validation_losses_, theirs.validation_losses_, rtol=1e-4)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize(("custom", "name"), [(LOG_LOSS, "log_loss"), (EXPONENTIAL, "exponential")])
def test_a_classifier_is_the_one_with_the_built_in_loss(custom: Any, name: str, weight: Any) -> None:
    labels = np.array(["no", "yes"])[CODES]
    ours, theirs = (
        GradientBoostingClassifier(loss=loss, n_estimators=20, random_state=0).fit(X, labels, weight)
        for loss in (custom, name)
    )
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)
    assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("size", [1e-100, 1e-30, 1e-6, 1.0, 1e6, 1e30, 1e100])
def test_targets_of_any_size_give_the_same_trees(size: float) -> None:
    ours = GradientBoostingRegressor(loss=SQUARED, n_estimators=10, random_state=0).fit(X, NUMBERS * size)
    theirs = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, NUMBERS * size)
    assert_allclose(ours.predict(X) / size, theirs.predict(X) / size, rtol=1e-5, atol=1e-5)


def _without_tiny(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[float]:
    """Squares of what is left are no subnormal numbers, whose differences say nothing."""
    return numbers.map(lambda number: number if abs(number) > 1e-100 else 0.0)


@given(
    st.lists(
        st.tuples(_without_tiny(st.floats(-1e6, 1e6)), _without_tiny(st.floats(-10, 10)), st.integers(0, 4)),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from([1.0, 1e-20, 1e20]),
)
@settings(deadline=None)
def test_the_start_of_a_squared_error_is_the_mean(
    rows: list[tuple[float, float, int]], factor: float
) -> None:
    """Whatever the unit of the loss, and although its hessian is not told."""
    y, offset, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    weight[0] += 1
    loss = CustomLoss(lambda y, s: factor * (s - y) ** 2 / 2, lambda y, s: factor * (s - y))
    start = loss.bind(y, weight, 1, InitScore(offset[:, None])).baseline[0]
    assert start == pytest.approx(
        np.average(y - offset, weights=weight), rel=1e-9, abs=1e-9 * np.ptp(y) + 1e-12
    )


def test_the_start_of_a_loss_with_corners_is_its_lowest_point() -> None:
    y = np.arange(11.0)
    assert PINBALL.bind(y, None, 1).baseline[0] == pytest.approx(3.0)


def test_a_start_that_would_be_infinite_is_a_number() -> None:
    start = LOG_LOSS.bind(np.ones(5), None, 1).baseline[0]
    assert 10 < start < 100


@pytest.mark.parametrize(
    ("start", "init", "expected"), [(2.5, None, 2.5), (2.5, "zero", 0.0), (None, "zero", 0.0)]
)
def test_a_start_that_is_given_is_kept(start: Any, init: Any, expected: float) -> None:
    loss = CustomLoss(square, slope_of_square, baseline=start)
    model = GradientBoostingRegressor(loss=loss, init=init, n_estimators=2).fit(X, NUMBERS)
    assert model.baseline_ == [expected]


@pytest.mark.parametrize(
    "loss",
    [SQUARED, POISSON, CAUCHY, PINBALL, CustomLoss(lambda y, s: np.abs(y - s), lambda y, s: np.sign(s - y))],
)
def test_right_derivatives_pass_on_many_tables(loss: CustomLoss) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = rng.poisson(10.0 ** rng.integers(-1, 4), rng.integers(1, 50)).astype(float)
        offset = rng.normal(size=len(y)) if seed % 2 else np.zeros(len(y))
        assert np.isfinite(loss.bind(y, None, 1, InitScore(offset[:, None])).baseline).all()


def test_at_a_corner_any_slope_between_its_sides_is_right() -> None:
    """The check looks at 0 + 0.29, among others, and the target is there."""
    for at_corner in (-1.0, 0.0, 1.0):
        loss = CustomLoss(
            lambda y, s: np.abs(s - y),
            lambda y, s, at_corner=at_corner: np.where(s == y, at_corner, np.sign(s - y)),
            baseline=0.0,
        )
        assert loss.bind(np.array([0.29]), None, 1).baseline[0] == 0


def test_targets_close_together_and_far_from_zero_are_checked() -> None:
    y = 1e12 + NUMBERS
    assert SQUARED.bind(y, None, 1).baseline[0] == pytest.approx(y.mean(), rel=1e-15)
    with pytest.raises(InvalidParameter, match="not the slope"):
        CustomLoss(square, lambda y, s: 2 * (s - y)).bind(y, None, 1)


WRONG = {
    "a factor in the gradient": (
        CustomLoss(lambda y, s: (s - y) ** 2, slope_of_square),
        r"gradient of the CustomLoss is not the slope of its value: at y=\S+ and score=\S+ it is .* differences of "
        r"the value give .*factor",
    ),
    "the sign of the gradient": (
        CustomLoss(square, lambda y, s: y - s),
        "gradient of the CustomLoss is not the slope of its value.*sign is turned",
    ),
    "a factor in the hessian": (
        CustomLoss(square, slope_of_square, lambda y, s: 2 * ones(y, s)),
        r"hessian of the CustomLoss is not the curvature of its value: at y=.* it is 2, and .* give 1\. .*hessian=None",
    ),
    "a gradient wrong on one side": (
        CustomLoss(lambda y, s: np.abs(s - y), lambda y, s: np.where(s > y, 1.0, -0.9)),
        "it is -0.9, and differences of the value give -1",
    ),
    "a mean": (
        CustomLoss(lambda y, s: square(y, s).mean(), slope_of_square),
        r"value of the CustomLoss returned shape \(\) for 300 rows; expected \(300,\), one number per row",
    ),
    "a column": (
        CustomLoss(square, lambda y, s: (s - y)[:, None]),
        r"gradient of the CustomLoss returned shape \(300, 1\)",
    ),
    "text": (
        CustomLoss(square, lambda y, _: np.full(len(y), "much")),
        "gradient of the CustomLoss returned ndarray of type <U4; expected an array of numbers",
    ),
    "nothing": (CustomLoss(square, lambda *_: None), "returned NoneType of type object"),
    "float32": (
        CustomLoss(lambda y, s: square(y, s).astype(np.float32), slope_of_square),
        "value of the CustomLoss returned float32; expected float64",
    ),
    "complex": (CustomLoss(lambda y, s: square(y, s) * 1j, slope_of_square), "type complex128"),
    "an exception": (
        CustomLoss(square, lambda *_: {}["slope"]),
        "gradient of the CustomLoss raised KeyError: 'slope'.*float64 arrays",
    ),
    "arguments": (CustomLoss(lambda y: y, slope_of_square), "value of the CustomLoss raised TypeError"),
    "a changed argument": (
        CustomLoss(square, lambda y, s: np.subtract(s, y, out=s)),
        "gradient of the CustomLoss raised ValueError.*read-only.*must not change",
    ),
    "NaN in the value": (
        CustomLoss(lambda _, s: s * np.nan, slope_of_square),
        "value of the CustomLoss is not finite",
    ),
    "NaN in the gradient": (
        CustomLoss(square, lambda y, s: np.where(y == y.max(), np.nan, s - y)),
        r"gradient of the CustomLoss is nan at y=\S+ and score=\S+\. Keep it finite",
    ),
    "an infinite hessian": (
        CustomLoss(square, slope_of_square, lambda y, s: ones(y, s) / 0.0),
        "hessian of the CustomLoss is inf at y=",
    ),
    "a gradient that explodes later": (
        CustomLoss(
            square,
            lambda y, s: np.where(np.abs(s - NUMBERS.mean()) > 1e-3, np.nan, s - y),
            baseline=NUMBERS.mean(),
        ),
        "gradient of the CustomLoss is .*nan",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_refused_by_its_name(case: str) -> None:
    loss, message = WRONG[case]
    with pytest.raises(InvalidParameter, match=re.compile(message, re.DOTALL)):
        GradientBoostingRegressor(loss=loss, n_estimators=5).fit(X, NUMBERS)


def test_a_factor_is_noticed_at_any_size_of_the_targets() -> None:
    for size in (1e-20, 1e-3, 1.0, 1e3, 1e20):
        for wrong in (1.01, 0.9, -1.0, 2.0):
            loss = CustomLoss(square, lambda y, s, wrong=wrong: wrong * (s - y))
            with pytest.raises(InvalidParameter, match="not the slope"):
                loss.bind(NUMBERS * size + size, None, 1)


def test_a_gradient_beyond_floats_is_refused_during_the_fit() -> None:
    loss = CustomLoss(
        lambda y, s: np.exp(s) - y * s, lambda y, s: np.exp(s) - y, lambda _, s: np.exp(s), baseline=-20.0
    ).bind(COUNTS, None, 1)
    loss.scores[:] = 1000.0
    with pytest.raises(
        InvalidParameter, match=r"gradient of the CustomLoss is inf at y=.*clipping the score"
    ):
        loss.derivatives(0)
    loss.scores[:] = 120.0 / loss.scale
    with pytest.raises(InvalidParameter, match=r"The \w+ of the CustomLoss does not fit float32 at y="):
        loss.derivatives(0)


def test_rows_with_a_hessian_below_zero_count_the_mean_size_and_say_so() -> None:
    y = np.array([0.0, 0.5, 5.0, -5.0])
    loss = CAUCHY.bind(y, None, 1)
    with pytest.warns(
        UserWarning, match=r"hessian of the CustomLoss is -\S+ at y=.*mean size of all hessians"
    ):
        _, hessian = loss.derivatives(0)
    own = CAUCHY.hessian(y, np.full(4, loss.baseline[0]))  # type: ignore[misc]
    assert (own < 0).sum() == 2
    assert_allclose(hessian, np.where(own < 0, np.abs(own).mean(), own), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The hessian of the CustomLoss")
def test_a_loss_that_is_not_convex_is_learned() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(1500, 2))
    y = 2 * table[:, 0] + rng.standard_cauchy(1500) / 4
    model = GradientBoostingRegressor(loss=CAUCHY, random_state=0).fit(table, y)
    assert np.median(np.abs(model.predict(table) - 2 * table[:, 0])) < 0.25


def test_rows_that_are_satisfied_count_nothing() -> None:
    """The squared hinge: no slope and no curvature beyond the margin, and no warning."""
    hinge = CustomLoss(
        lambda y, s: np.maximum(0, 1 - (2 * y - 1) * s) ** 2 / 2,
        lambda y, s: -(2 * y - 1) * np.maximum(0, 1 - (2 * y - 1) * s),
        lambda y, s: np.where((2 * y - 1) * s < 1, 1.0, 0.0),
    )
    model = GradientBoostingClassifier(loss=hinge, n_estimators=60, random_state=0).fit(X, CODES)
    assert model.score(X, CODES) > 0.8
    assert_allclose(model.predict_proba(X)[:, 1], expit(model.decision_function(X)))


def test_a_link_is_what_predict_answers_with() -> None:
    loss = CustomLoss(square, slope_of_square, inverse_link=lambda score: 10 * score)
    model = GradientBoostingRegressor(loss=loss, n_estimators=5).fit(X, NUMBERS)
    plain = GradientBoostingRegressor(loss=SQUARED, n_estimators=5).fit(X, NUMBERS)
    assert_allclose(model.predict(X), 10 * plain.predict(X))


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (lambda s: 2 + 0 * s, r"link of the CustomLoss is 2 at score=.*from 0 to 1"),
        (lambda s: s * np.nan, "link of the CustomLoss is nan at score="),
        (lambda _: 0.5, r"link of the CustomLoss returned shape \(\)"),
    ],
)
def test_a_link_that_gives_no_probability_is_refused(link: Any, message: str) -> None:
    loss = CustomLoss(LOG_LOSS.value, LOG_LOSS.gradient, LOG_LOSS.hessian, inverse_link=link)
    model = GradientBoostingClassifier(loss=loss, n_estimators=2).fit(X, CODES)
    with pytest.raises(InvalidParameter, match=message):
        model.predict_proba(X)


@pytest.mark.parametrize(
    ("parameter", "received", "allowed"),
    [
        ("value", 3, "a function of (y, score)"),
        ("gradient", None, "a function of (y, score)"),
        ("hessian", 1.0, "a function of (y, score)"),
        ("inverse_link", "log", "a function of (score)"),
        ("baseline", np.inf, "a finite number"),
        ("baseline", "mean", "a finite number"),
    ],
)
def test_parts_that_cannot_be_are_refused(parameter: str, received: object, allowed: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        CustomLoss(**{"value": square, "gradient": slope_of_square, parameter: received})
    error = caught.value
    assert (error.parameter, error.received, error.allowed) == (parameter, received, allowed)


def test_a_custom_loss_is_for_two_classes() -> None:
    with pytest.raises(InvalidParameter, match="is for two classes; y has 3") as caught:
        GradientBoostingClassifier(loss=LOG_LOSS).fit(X, np.arange(N) % 3)
    assert (caught.value.parameter, caught.value.allowed) == ("loss", "log_loss")


def test_a_start_without_a_finite_loss_is_refused() -> None:
    loss = CustomLoss(lambda _, s: s * np.inf, slope_of_square, baseline=1.0)
    with pytest.raises(InvalidParameter, match=r"not finite around score=1.*Give baseline="):
        GradientBoostingRegressor(loss=loss).fit(X, NUMBERS)


def test_it_is_a_value_like_the_other_choices() -> None:
    loss = CustomLoss(square, slope_of_square, ones, baseline=1.5, inverse_link=np.exp)
    assert (
        repr(loss)
        == "CustomLoss(value=square, gradient=slope_of_square, hessian=ones, baseline=1.5, inverse_link=exp)"
    )
    assert loss == CustomLoss(square, slope_of_square, ones, baseline=1.5, inverse_link=np.exp)
    assert loss != CustomLoss(square, slope_of_square, ones, baseline=1.6, inverse_link=np.exp)
    assert clone(GradientBoostingRegressor(loss=loss)).loss == loss


def test_a_model_with_it_is_pickled_when_its_functions_are() -> None:
    plain = pickle.loads(pickle.dumps(CustomLoss(np.subtract, np.add, baseline=1.0)))
    assert plain == CustomLoss(np.subtract, np.add, baseline=1.0)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(POISSON)


def test_threads_do_not_change_an_answer() -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(size=(40_000, 3))
    y = rng.poisson(np.exp(table[:, 0])).astype(float)
    first, *others = (
        GradientBoostingRegressor(loss=POISSON, n_estimators=3, n_jobs=n_jobs, random_state=0)
        .fit(table, y)
        .predict(table)
        for n_jobs in (1, 2, 3)
    )
    for other in others:
        assert_array_equal(other, first)


def test_a_target_with_a_row_of_zero_weight_is_not_looked_at() -> None:
    """A loss of logarithms may not take a zero, and need not where the row does not count."""
    logs = CustomLoss(lambda y, s: np.log(y) ** 2 / 2 + square(y, s), slope_of_square)
    y = np.array([1.0, 2.0, 0.0])
    assert logs.bind(y, np.array([1.0, 1.0, 0.0]), 1).baseline[0] == pytest.approx(1.5)
    with pytest.raises(InvalidParameter, match="value of the CustomLoss is not finite"):
        logs.bind(y, None, 1)


@pytest.mark.filterwarnings("ignore:The hessian of the CustomLoss")
def test_the_recipe_takes_a_loss_of_ones_own() -> None:
    table = np.random.default_rng(3).normal(size=(300, 2))
    y = np.abs(table[:, 0])
    weight = (np.arange(300) > 5) / 1.0
    for loss in (
        CAUCHY,
        CustomLoss(square, slope_of_square, inverse_link=lambda score: np.maximum(score, 0)),
    ):
        model = GradientBoostingRegressor(loss=loss, random_state=0).fit(table, y, weight)
        assert model.n_folds_ > 1
        assert np.isnan(model.oof_prediction_[:6]).all()
        assert np.abs(model.oof_prediction_ - y)[6:].mean() < np.abs(y - y.mean()).mean() / 2


def test_an_early_stop_measures_the_own_loss() -> None:
    model = GradientBoostingRegressor(loss=POISSON, n_estimators=100, early_stopping=True, random_state=0)
    model.fit(X, COUNTS)
    assert len(model.validation_losses_) < 100
    with pytest.raises(InvalidInput, match="row 0"):
        model.fit(X, np.where(np.arange(N) == 0, np.nan, COUNTS))


def test_derivatives_are_looked_at_in_units_of_the_target() -> None:
    y = np.array([0.0, 300.0, 900.0])

    points = derivative_check._points(SQUARED, y, np.full(3, 50.0))

    assert points.unit.max() > 100
    assert sorted({*((points.score - 50.0) / points.unit).round(6).tolist()}) == sorted(
        derivative_check._SHIFTS
    )


def test_where_the_hessian_is_zero_and_the_gradient_is_not_the_mean_hessian_counts() -> None:
    half = CustomLoss(
        lambda y, s: np.where(np.abs(s - y) < 1, (s - y) ** 2 / 2, np.abs(s - y) - 0.5),
        lambda y, s: np.clip(s - y, -1, 1),
        lambda y, s: (np.abs(s - y) < 1).astype(float),
        baseline=0.0,
    )
    y = np.repeat([0.0, 0.5, 3.0, -4.0], 20)
    model = GradientBoostingRegressor(
        loss=half, n_estimators=1, learning_rate=1.0, min_samples_leaf=5, l2_regularization=0.0, subsample=1.0
    )

    with pytest.warns(UserWarning, match=r"hessian of .* is 0 at y=3 and score=0.* \(0\.5 here\)"):
        model.fit(y[:, None], y)

    # From a score of 0 each leaf takes Newton's step: 0, 0.5 / 1, and 1 / 0.5 where the hessian is 0.
    assert_allclose(model.predict([[0.0], [0.5], [3.0], [-4.0]]), [0.0, 0.5, 2.0, -2.0], atol=1e-6)


def test_the_best_constant_is_found_from_a_slope_of_one() -> None:
    assert _downhill(lambda constant: np.array([constant + 1.0]), np.ones(1), 0.0) == pytest.approx(-1.0)
