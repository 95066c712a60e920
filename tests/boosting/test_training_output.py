"""What gradient boosting says and keeps of its rounds: lines, curves of several eval sets, and of the training rows."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss, roc_auc_score

import coterie
from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.fitting.monitor import FitEvent, monitored

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = X[:, 0] + np.abs(X[:, 1]) + 0.5 * RNG.normal(size=300)
LABELS = np.where(Y > 1, "high", "low")
TRAIN, OLD, NEW = slice(0, 150), slice(150, 220), slice(220, 300)
SETTINGS: dict[str, Any] = {"n_estimators": 80, "n_iter_no_change": 5, "random_state": 0}


def regressor(eval_set: Any, **settings: Any) -> GradientBoostingRegressor:
    return GradientBoostingRegressor(**SETTINGS | settings).fit(X[TRAIN], Y[TRAIN], eval_set=eval_set)


def test_the_last_of_several_sets_decides_and_all_are_measured() -> None:
    model = regressor([(X[OLD], Y[OLD]), (X[NEW], Y[NEW])])
    alone = regressor((X[NEW], Y[NEW]))

    assert list(model.eval_losses_) == ["eval_0", "eval_1"]
    assert model.n_estimators_ == alone.n_estimators_ < 80
    assert_array_equal(model.predict(X), alone.predict(X))
    assert_array_equal(model.eval_losses_["eval_1"], model.validation_losses_)
    assert_array_equal(model.validation_losses_, alone.validation_losses_)


def test_curves_are_the_losses_of_staged_predictions() -> None:
    model = regressor({"old": (X[OLD], Y[OLD]), "new": (X[NEW], Y[NEW])}, early_stopping=False)

    for name, rows in (("old", OLD), ("new", NEW)):
        expected = [np.mean((own - Y[rows]) ** 2) / 2 for own in model.staged_predict(X[rows])]
        scale = model.eval_losses_[name][0] / expected[0]
        assert_allclose(model.eval_losses_[name], np.array(expected) * scale, rtol=1e-5)
    expected = [np.mean((own - Y[TRAIN]) ** 2) for own in model.staged_predict(X[TRAIN])]
    assert_allclose(model.train_losses_ / model.train_losses_[0], np.array(expected) / expected[0], rtol=1e-4)
    assert (np.diff(model.train_losses_) <= 0).all()


def test_curves_of_classes_are_log_losses_and_scores() -> None:
    model = GradientBoostingClassifier(**SETTINGS, scoring="auc", early_stopping=False)
    model.fit(X[TRAIN], LABELS[TRAIN], eval_set={"old": (X[OLD], LABELS[OLD]), "new": (X[NEW], LABELS[NEW])})
    proba = model.predict_proba(X)

    for name, rows in (("old", OLD), ("new", NEW)):
        assert model.eval_losses_[name][-1] == pytest.approx(log_loss(LABELS[rows], proba[rows]), rel=1e-5)
        truth = LABELS[rows] == "low"
        assert model.eval_scores_[name][-1] == pytest.approx(roc_auc_score(truth, proba[rows, 1]))
    assert model.train_losses_[-1] == pytest.approx(log_loss(LABELS[TRAIN], proba[TRAIN]), rel=1e-4)


def test_the_default_recipe_has_curves_too() -> None:
    sets = {"old": (X[OLD], Y[OLD]), "new": (X[NEW], Y[NEW])}
    model = GradientBoostingRegressor(n_folds=2, random_state=0).fit(X[TRAIN], Y[TRAIN], eval_set=sets)

    n_rounds = len(model.validation_losses_)
    assert {name: len(own) for name, own in model.eval_losses_.items()} == {"old": n_rounds, "new": n_rounds}
    assert len(model.train_losses_) == n_rounds


def test_measuring_changes_no_bit_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    plain = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, Y)
    told = GradientBoostingRegressor(n_estimators=20, random_state=0, verbose=True).fit(X, Y)

    assert_array_equal(plain.predict(X), told.predict(X))
    assert not hasattr(plain, "train_losses_")
    assert len(told.train_losses_) == 20
    assert len(capsys.readouterr().out.splitlines()) == 21


def test_a_line_is_printed_every_so_many_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    model = regressor({"old": (X[OLD], Y[OLD]), "new": (X[NEW], Y[NEW])}, verbose=10)
    lines = capsys.readouterr().out.splitlines()

    assert len(lines) == (len(model.validation_losses_)) // 10 + 1
    number = r"\d[\d.e-]*"
    pattern = (
        f"10 of 80 rounds, training loss {number}, old loss {number}, new loss {number}, at most \\d+ s left"
    )
    assert re.fullmatch(pattern, lines[0]), lines[0]
    kept = f"GradientBoostingRegressor: {model.n_estimators_} rounds kept, training loss "
    assert lines[-1].startswith(kept)
    final = model.validation_losses_[model.n_estimators_ - 1]
    assert f"new loss {final:.6g}, " in lines[-1]


def test_events_have_what_lines_say() -> None:
    events: list[FitEvent] = []
    with monitored(lambda event: events.append(event)):
        model = GradientBoostingClassifier(n_estimators=5, random_state=0, scoring="neg_log_loss").fit(
            X[TRAIN], LABELS[TRAIN], eval_set=(X[NEW], LABELS[NEW])
        )

    assert [event.done for event in events] == [1, 2, 3, 4, 5]
    assert list(events[0].measures) == ["training loss", "eval_0 loss", "eval_0 log_loss"]
    assert [event.measures["eval_0 loss"] for event in events] == model.eval_losses_["eval_0"].tolist()
    assert events[0].measures["eval_0 log_loss"] > 0


def test_a_monitor_still_ends_the_fit_at_its_round() -> None:
    with monitored(lambda event: event.done == 7):
        model = regressor({"old": (X[OLD], Y[OLD]), "new": (X[NEW], Y[NEW])}, early_stopping=False)

    assert model.n_estimators_ == 7
    assert len(model.eval_losses_["old"]) == 7


def test_files_keep_the_curves(tmp_path: Path) -> None:
    model = regressor({"old": (X[OLD], Y[OLD]), "new": (X[NEW], Y[NEW])})
    coterie.save(model, tmp_path / "m.coterie")
    again = coterie.load(tmp_path / "m.coterie")

    assert list(again.eval_losses_) == ["old", "new"]
    assert_array_equal(again.eval_losses_["old"], model.eval_losses_["old"])
    assert_array_equal(again.train_losses_, model.train_losses_)


def test_a_wrong_set_is_named() -> None:
    with pytest.raises(coterie.errors.InvalidInput, match="eval_set"):
        regressor({"old": (X[OLD], Y[OLD][:-1]), "new": (X[NEW], Y[NEW])})
