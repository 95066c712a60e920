"""Every registered loss keeps the promises of one: derivatives, link, start, files, exports, any learner, the guide."""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.linear_model import LinearRegression

import coterie
from coterie import (
    AnyBoostClassifier,
    AnyBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from coterie.errors import InvalidInput, InvalidParameter
from coterie.export import to_onnx, to_treelite
from coterie.losses import (
    ClassificationLoss,
    CustomLoss,
    Huber,
    InitScore,
    Quantile,
    RegressionLoss,
    loss_for_classes,
    loss_names,
    registered_losses,
)
from coterie.losses.loss import LOSSES
from tests.helpers.exported import onnx_answers, own_answers, treelite_answers
from tests.helpers.loss_cases import CUSTOM, EVERY_CASE, REGISTERED, LossCase
from tests.helpers.repository import ROOT

N = 60
GUIDE = (ROOT / "docs/guide/gradient_boosting.md").read_text(encoding="utf-8")
every_loss = pytest.mark.parametrize("case", EVERY_CASE, ids=str)
every_registered = pytest.mark.parametrize("case", REGISTERED, ids=str)


def table(n_rows: int = 200) -> Any:
    return np.random.default_rng(5).normal(size=(n_rows, 3)).astype(np.float32).astype(np.float64)


def targets_of(case: LossCase, X: Any) -> Any:
    """Targets with a pattern, which every loss of the task takes."""
    signal = X[:, 0] + np.abs(X[:, 1]) + np.random.default_rng(6).normal(size=len(X))
    if case.n_classes:
        return np.digitize(signal, np.quantile(signal, np.arange(1, case.n_classes) / case.n_classes))
    return 1 / (1 + np.exp(-signal))


def boosted(case: LossCase, **settings: Any) -> Any:
    model = GradientBoostingClassifier if case.n_classes else GradientBoostingRegressor
    return model(loss=case.given, **{"n_estimators": 5, "random_state": 0, **settings})


def descended(case: LossCase, **settings: Any) -> Any:
    model = AnyBoostClassifier if case.n_classes else AnyBoostRegressor
    return model(**{"loss": case.given, "n_estimators": 60, "learning_rate": 1.0, **settings})


@every_loss
def test_a_gradient_is_the_slope_of_the_value(case: LossCase) -> None:
    y, raw = case.targets(N), case.raw(N)
    loss = case.loss.on_rows(y, None)
    gradients = loss.gradients(y, raw)

    assert gradients.shape == raw.shape
    for output in range(raw.shape[1]):
        shift = 1e-6 * (np.arange(raw.shape[1]) == output)
        found = (loss.values(y, raw + shift) - loss.values(y, raw - shift)) / 2e-6
        assert_allclose(gradients[:, output], found, rtol=1e-5, atol=1e-8)


@every_loss
def test_a_curvature_is_the_slope_of_the_gradient_along_the_direction(case: LossCase) -> None:
    y, raw, along = case.targets(N), case.raw(N), case.raw(N, seed=2)
    loss = case.loss.on_rows(y, None)
    curvatures = loss.curvatures(y, raw, along)
    slope = [(loss.gradients(y, raw + t * along) * along).sum(axis=1) for t in (-1e-6, 1e-6)]

    if curvatures is None:  # not known, as of straight lines
        assert case.loss.hessian is None
    else:
        assert_allclose(curvatures, (slope[1] - slope[0]) / 2e-6, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("weight", [None, np.arange(N) % 3 + 1.0], ids=["plain", "weighted"])
@every_loss
def test_derivatives_for_trees_are_those_for_any_learner(case: LossCase, weight: Any) -> None:
    """Up to a factor, which changes no tree: a step is the ratio of gradient and hessian."""
    y = case.targets(N)
    bound = case.loss.bind(y, weight, 1)
    bound.scores[:] += np.random.default_rng(3).normal(size=bound.scores.shape, scale=0.3).astype(np.float32)
    if bound.n_outputs > 1:
        bound.begin_round()
    raw, counts = bound.raw_predictions(np.arange(N)), 1.0 if weight is None else weight

    for output in range(bound.n_outputs):
        gradient, hessian = (each.astype(float) for each in bound.derivatives(output))
        gradient, hessian = gradient / counts, hessian / counts if len(hessian) else np.ones(N)
        expected = bound.loss.gradients(y, raw)[:, output]
        large = np.abs(expected) > 1e-2 * np.abs(expected).max()
        factors = gradient[large] / expected[large]
        assert_allclose(factors, np.median(factors), rtol=2e-4)
        along = np.tile(np.eye(bound.n_outputs)[output], (N, 1))
        curvatures = bound.loss.curvatures(y, raw, along)
        if curvatures is not None:
            convex = curvatures > 0
            # A hessian may be that of a parabola above the loss, whose steps are shorter and safe.
            above = hessian / np.median(factors) * (1 + 2e-4) / bound.scale >= curvatures
            assert above.all()
            if not isinstance(case.given, Huber):
                steps = gradient[convex] * bound.scale / hessian[convex]
                assert_allclose(steps, expected[convex] / curvatures[convex], rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("weight", [None, np.arange(N) % 3 + 1.0], ids=["plain", "weighted"])
@every_loss
def test_the_baseline_minimises_the_mean_value(case: LossCase, weight: Any) -> None:
    y = case.targets(N)
    bound = case.loss.bind(y, weight, 1)
    raw = np.tile(bound.baseline, (N, 1))
    best = bound.mean_value(y, raw, weight)
    # Huber's baseline is the median, which is next to the best.
    slack = 2e-2 * abs(best) if isinstance(case.given, Huber) else 1e-12

    for output in range(bound.n_outputs):
        for step in (-0.3, -1e-3, 1e-3, 0.3):
            moved = raw + step * (np.arange(bound.n_outputs) == output)
            assert bound.mean_value(y, moved, weight) >= best - slack


@every_loss
def test_the_mean_value_of_trees_is_that_of_any_learner(case: LossCase) -> None:
    y, raw = case.targets(N), case.raw(N)
    bound = case.loss.bind(y, None, 1, InitScore(add_constant=False))
    # Several quantiles count as their mean.
    rows = bound.loss.values(y, raw) / case.loss.n_outputs ** isinstance(case.given, Quantile)

    assert bound.mean_value(y, raw, None) == pytest.approx(rows.mean(), rel=1e-12)


@every_loss
def test_the_inverse_link_undoes_the_link(case: LossCase) -> None:
    if case.n_classes:
        probabilities = softmax(np.random.default_rng(4).normal(size=(N, case.n_classes)), axis=1)
        assert_allclose(case.loss.probabilities(case.loss.link(probabilities)), probabilities, rtol=1e-9)
        assert_array_equal(
            case.loss.most_probable(case.loss.link(probabilities)), probabilities.argmax(axis=1)
        )
    else:
        predictions = np.sort(np.random.default_rng(4).uniform(0.05, 0.95, (N, case.loss.n_outputs)), axis=1)
        found = case.loss.predictions(case.loss.link(predictions))
        assert_allclose(found.reshape(predictions.shape), predictions, rtol=1e-12)


@every_registered
def test_a_name_means_the_default_settings(case: LossCase) -> None:
    loss = type(case.given)

    assert LOSSES[loss.name] is loss
    assert loss.file_name == f"losses.{loss.__name__}"
    assert getattr(coterie.losses, loss.__name__) is loss
    assert loss.__name__ in dir(coterie.losses)
    if case.given == loss():
        X = table()
        ours, theirs = (
            boosted(case).set_params(loss=each).fit(X, targets_of(case, X))
            for each in (case.given, loss.name)
        )
        assert_array_equal(own_answers(ours, X)[0], own_answers(theirs, X)[0])


@every_registered
@pytest.mark.parametrize("make", [boosted, descended], ids=["boosting", "any learner"])
def test_a_saved_model_predicts_the_same_bits(case: LossCase, make: Any) -> None:
    X, file = table(), io.BytesIO()
    model = make(case, n_estimators=3).fit(X, targets_of(case, X))
    coterie.save(model, file)
    file.seek(0)
    twin = coterie.load(file)

    assert twin.loss == case.given
    assert_array_equal(own_answers(twin, X)[0], own_answers(model, X)[0])


@every_loss
def test_an_onnx_model_predicts_the_same(case: LossCase) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    X = table()
    model = boosted(case).fit(X, targets_of(case, X))
    found = onnx_answers(model, X)

    if case.n_classes:
        assert_allclose(found["probabilities"], model.predict_proba(X), rtol=1e-12, atol=1e-12)
        assert_array_equal(found["label"], model.predict(X))
    else:
        assert_allclose(found["prediction"], own_answers(model, X)[0], rtol=1e-12, atol=1e-12)


@every_loss
def test_a_treelite_model_predicts_the_same_or_is_refused(case: LossCase) -> None:
    pytest.importorskip("treelite")
    X = table()
    model = boosted(case, linear_leaves=False).fit(X, targets_of(case, X))
    if case.loss.n_outputs > 1 and not case.n_classes:
        with pytest.raises(InvalidInput):
            to_treelite(model)
        return
    expected = own_answers(model, X)[0]
    found = treelite_answers(model, X)[:, 0].reshape(len(X), -1)

    assert_allclose(found, expected[:, 1:] if case.n_classes == 2 else expected, rtol=1e-6, atol=1e-6)


@every_loss
def test_any_learner_goes_down_exactly_this_loss(case: LossCase) -> None:
    """And lines end lower than those nearest to what the usual loss gives, unless these minimise this one as well."""
    X = table()
    y = targets_of(case, X)
    own = case.loss.on_rows(y, None)
    model = descended(case, estimator=LinearRegression()).fit(X, y)
    reached = own.values(y, model._raw_scores(X)).mean()

    assert model.train_losses_[-1] < model._first_loss
    assert model.train_losses_[-1] == pytest.approx(reached, rel=1e-9)

    usual = "log_loss" if case.n_classes else "squared_error"
    predicted = own_answers(descended(case, estimator=LinearRegression(), loss=usual).fit(X, y), X)[0]
    predicted = predicted if case.n_classes else np.clip(predicted, 0.01, 0.99)
    raw = np.broadcast_to(case.loss.link(predicted), (len(X), case.loss.n_outputs))
    raw = LinearRegression().fit(X, raw).predict(X)
    is_stationary = np.abs(np.column_stack([np.ones(len(X)), X]).T @ own.gradients(y, raw)).max() < 1e-3
    theirs = own.values(y, raw).mean()
    assert reached <= theirs + 1e-9 if is_stationary else reached < theirs - 1e-8


@pytest.mark.parametrize("loss", registered_losses(), ids=lambda loss: loss.name)
def test_every_loss_has_a_row_in_the_guide(loss: Any) -> None:
    rows = [line for line in GUIDE.splitlines() if line.startswith("|")]

    assert any(f'`"{loss.name}"`' in row.split("|")[1] for row in rows)


@every_loss
def test_a_loss_for_the_other_task_is_refused(case: LossCase) -> None:
    others: dict[str, list[Any]] = {
        "binary": [GradientBoostingClassifier, AnyBoostClassifier],
        "regression": [GradientBoostingRegressor, AnyBoostRegressor],
    }
    for task in set(others) - case.given.tasks:
        for estimator in others[task]:
            for loss in (case.given, case.given.name):
                with pytest.raises(InvalidParameter) as caught:
                    estimator(loss=loss).fit(table(20), np.arange(20) % 2)
                assert (caught.value.parameter, caught.value.received) == ("loss", loss)


@pytest.mark.parametrize("name", sorted(set(loss_names("binary")) - set(loss_names("multiclass"))))
@pytest.mark.parametrize("estimator", [GradientBoostingClassifier, AnyBoostClassifier])
def test_a_loss_for_two_classes_refuses_three(name: str, estimator: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        estimator(loss=name).fit(table(21), np.arange(21) % 3)
    assert caught.value.parameter == "loss"


def test_slopes_of_several_classes_are_shares_minus_the_truth() -> None:
    case = LossCase("log_loss", 4)
    y, raw = case.targets(N), case.raw(N)

    assert_allclose(case.loss.gradients(y, raw), softmax(raw, axis=1) - np.eye(4)[y], rtol=1e-12)


def test_the_delta_of_huber_counts_rows_by_weight() -> None:
    y, weight = np.random.default_rng(4).normal(size=N), np.arange(N) % 3 + 1.0
    weighted = Huber().on_rows(y, weight)

    assert weighted == Huber().on_rows(np.repeat(y, weight.astype(int)), None)
    assert weighted != Huber().on_rows(y, None)


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_a_class_registers_itself_by_being_defined(task: str, request: pytest.FixtureRequest) -> None:
    """With the formulas alone it is bound, minimised, exported and refused where it must be."""
    request.addfinalizer(lambda: LOSSES.pop("of_this_test", None))
    kind: Any = RegressionLoss if task == "regression" else ClassificationLoss

    @dataclass(frozen=True)
    class OfThisTest(kind, name="of_this_test"):  # type: ignore[misc]
        power: float = 4.0

        def value(self, y: Any, raw: Any) -> Any:
            return np.abs(raw - y) ** self.power

        def gradient(self, y: Any, raw: Any) -> Any:
            return self.power * np.abs(raw - y) ** (self.power - 1) * np.sign(raw - y)

        def hessian(self, y: Any, raw: Any) -> Any:
            return self.power * (self.power - 1) * np.abs(raw - y) ** (self.power - 2)

    case, X = LossCase("of_this_test", 0 if task == "regression" else 2), table()
    y = targets_of(case, X)
    assert OfThisTest in registered_losses()
    for model in (boosted(case).fit(X, y), descended(case).fit(X, y)):
        constant = case.loss.bind(y, None, 1).init_scores(np.arange(len(X)))
        raw = model.decision_function(X) if case.n_classes else model.predict(X)
        assert case.loss.values(y, raw[:, None]).mean() < case.loss.values(y, constant).mean()
    model = boosted(case, linear_leaves=False).fit(X, y)
    pytest.importorskip("treelite")
    assert_allclose(
        treelite_answers(model, X)[:, 0].reshape(len(X), -1)[:, -1],
        own_answers(model, X)[0][:, -1],
        rtol=1e-6,
    )
    with pytest.raises(TypeError, match="Two losses are called 'of_this_test'"):

        class Another(kind, name="of_this_test"):  # type: ignore[misc]
            pass


def test_the_inverse_link_of_an_unknown_loss_is_never_taken_for_another() -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("treelite")

    class Doubled(type(LOSSES["squared_error"]())):  # type: ignore[misc]
        def predictions(self, raw: Any) -> Any:
            return 2 * raw[:, 0]

    class Certain(type(LOSSES["log_loss"]())):  # type: ignore[misc]
        def probabilities(self, raw: Any) -> Any:
            return np.column_stack([raw[:, 0] <= 0, raw[:, 0] > 0]).astype(float)

    squared = CustomLoss(
        lambda y, s: (s - y) ** 2 / 2, lambda y, s: s - y, inverse_link=lambda s: np.clip(s, 0, 1)
    )
    X = table()
    for loss, n_classes in ((Doubled(), 0), (Certain(), 2), (squared, 0), (squared, 2)):
        case = LossCase(loss, n_classes)
        model = boosted(case, linear_leaves=False).fit(X, targets_of(case, X))
        for export in (to_treelite, to_onnx):
            with pytest.raises(InvalidInput) as caught:
                export(model)
            assert (caught.value.parameter, caught.value.received) == ("loss", loss)


def test_a_loss_without_a_hessian_knows_no_curvature() -> None:
    case = CUSTOM[1]
    assert case.loss.curvatures(case.targets(N), case.raw(N), case.raw(N)) is None
    assert loss_for_classes("log_loss", 2).curvatures(case.targets(N), case.raw(N), case.raw(N)) is not None
