"""Trees that grow elsewhere, range by range, are the trees of a fit in this process, to the last bit."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import coterie
from coterie import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.data.prepare import prepare_training
from coterie.fitting.monitor import monitored
from coterie.forests import base
from coterie.forests.tree_ranges import ForestTask, RangeGrower
from tests.helpers.streamed import FEATURES, differences_of_fits, mixed_table

FRAME = mixed_table(0, 500)
FRAME["two"] = np.where(FRAME["number"] > 3, "yes", "no")
FRAME["other"] = FRAME["number"] ** 2


class Elsewhere:
    """Two growers that only know what was pickled for them; they take the ranges in turn."""

    def __init__(self, sizes: tuple[int, ...] = (3, 1, 4)) -> None:
        self.sizes, self.closed = sizes, False

    def gathered_table(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        return prepare_training(estimator, X, y, sample_weight, task=estimator._task, multi_output=True)

    def range_source(self, task: ForestTask, n_trees: int | None) -> "Elsewhere":
        self.n_trees = n_trees
        sent = pickle.dumps(RangeGrower(task))
        self.growers, self.asked = [pickle.loads(sent) for _ in range(2)], 0
        return self

    def range_from(self, first: int) -> Any:
        self.asked += 1
        grower, size = self.growers[self.asked % 2], self.sizes[self.asked % len(self.sizes)]
        return pickle.loads(pickle.dumps(grower.grow(first, size, n_threads=1 + self.asked % 2)))

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    found = Elsewhere()
    monkeypatch.setattr(base, "_cluster_of", lambda X: found if isinstance(X, pd.DataFrame) else None)
    return found


def in_memory(model: Any, frame: pd.DataFrame, *others: Any) -> Any:
    return clone(model).fit(frame.to_dict("series"), *others)


FEW = {"n_estimators": 9, "random_state": 0}
CASES: dict[str, tuple[Any, Any, bool]] = {
    "two classes": (RandomForestClassifier(**FEW), "two", False),
    "several classes": (RandomForestClassifier(**FEW), "label", True),
    "several outputs": (RandomForestClassifier(**FEW), ["two", "label"], False),
    "balanced bags": (RandomForestClassifier(bootstrap="balanced", **FEW), "label", False),
    "balanced": (RandomForestClassifier(class_weight="balanced", **FEW), "label", True),
    "balanced in bags": (RandomForestClassifier(class_weight="balanced_subsample", **FEW), "label", False),
    "parts": (RandomForestClassifier(bootstrap="partition", max_samples=0.2, **FEW), "two", False),
    "numbers": (RandomForestRegressor(**FEW), "number", True),
    "several numbers": (RandomForestRegressor(**FEW), ["number", "other"], False),
    "large numbers": (RandomForestRegressor(**FEW), "large", False),
    "absolute error": (RandomForestRegressor(criterion="absolute_error", **FEW), "number", False),
    "pruned": (RandomForestRegressor(prune="oob", **FEW), "number", True),
    "cut back": (RandomForestRegressor(ccp_alpha=0.1, **FEW), "number", False),
    "random thresholds": (ExtraTreesClassifier(**FEW), "label", True),
    "random thresholds out of bag": (
        ExtraTreesRegressor(bootstrap=True, features_per="tree", **FEW),
        "number",
        False,
    ),
    "no rows kept": (RandomForestClassifier(keep_rows=False, oob_score=False, **FEW), "label", False),
    "a score": (RandomForestClassifier(40, oob_score="roc_auc", random_state=0), "two", False),
    "as many as serve": (RandomForestRegressor("auto", max_depth=2, random_state=0), "number", False),
}


@pytest.mark.parametrize("name", CASES)
def test_ranges_make_the_forest_of_one_fit(elsewhere: Elsewhere, name: str) -> None:
    model, target, has_weights = CASES[name]
    frame = FRAME.assign(large=FRAME["number"] * 1e120)
    given = [frame[target], *([frame["weight"]] if has_weights else [])]
    alone = in_memory(model, frame[FEATURES], *given)
    together = clone(model).fit(frame[FEATURES], *given)
    assert elsewhere.closed
    assert differences_of_fits(together, alone) == []
    if alone._oob is not None:
        np.testing.assert_array_equal(together._oob.errors, alone._oob.errors)


def test_a_range_that_follows_needs_no_new_ranks(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[int] = []
    start = ForestTask.start

    def counting(self: Any, n_threads: int, n_before: int = 0) -> Any:
        starts.append(n_before)
        return start(self, n_threads, n_before)

    monkeypatch.setattr(ForestTask, "start", counting)
    RandomForestClassifier(**FEW).fit(FRAME[FEATURES], FRAME["label"])
    grower = elsewhere.growers[0]
    starts.clear()
    for first in (20, 22, 24, 20):
        grower.grow(first, 2, 1)
    assert starts == [20, 20]


@pytest.mark.usefixtures("elsewhere")
def test_a_warm_start_goes_on() -> None:
    model = RandomForestRegressor(**FEW, warm_start=True)
    twice = model.fit(FRAME[FEATURES], FRAME["number"]).set_params(n_estimators=14)
    twice.fit(FRAME[FEATURES], FRAME["number"])
    here = RandomForestRegressor(**FEW, warm_start=True).fit(
        FRAME[FEATURES].to_dict("series"), FRAME["number"]
    )
    here.set_params(n_estimators=14).fit(FRAME[FEATURES].to_dict("series"), FRAME["number"])
    assert differences_of_fits(twice, here) == []


def test_a_fit_that_was_interrupted_goes_on_from_its_checkpoint(elsewhere: Elsewhere, tmp_path: Any) -> None:
    given = {"n_estimators": 12, "random_state": 0}
    checkpoint = coterie.Checkpoint(tmp_path, every=2)

    def interrupt(event: Any) -> bool:
        if event.step == "tree" and event.done >= 8:
            raise KeyboardInterrupt
        return False

    model = RandomForestClassifier(**given, checkpoint=checkpoint)
    with monitored(interrupt), pytest.raises(KeyboardInterrupt):
        model.fit(FRAME[FEATURES], FRAME["label"])
    elsewhere.asked = 0
    resumed = model.fit(FRAME[FEATURES], FRAME["label"], resume=True)
    assert elsewhere.asked < 5, "trees that are known are not grown again"
    resumed.checkpoint = None
    alone = in_memory(RandomForestClassifier(**given), FRAME[FEATURES], FRAME["label"])
    assert differences_of_fits(resumed, alone) == []


def test_a_monitor_ends_a_fit_in_the_middle_of_a_range(elsewhere: Elsewhere) -> None:
    elsewhere.sizes = (5,)

    def stop(event: Any) -> bool:
        return bool(event.step == "tree")

    with monitored(stop):
        model = RandomForestClassifier(20, random_state=0).fit(FRAME[FEATURES], FRAME["label"])
    alone = in_memory(
        RandomForestClassifier(len(model.forest_), random_state=0), FRAME[FEATURES], FRAME["label"]
    )
    assert len(model.forest_) == 8
    np.testing.assert_array_equal(model.predict_proba(FRAME[FEATURES]), alone.predict_proba(FRAME[FEATURES]))
    assert model.oob_score_ == alone.oob_score_


def test_who_grows_is_told_when_a_fit_fails(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RangeGrower, "grow", None)
    with pytest.raises(TypeError, match="callable"):
        RandomForestClassifier(**FEW).fit(FRAME[FEATURES], FRAME["label"])
    assert elsewhere.closed
