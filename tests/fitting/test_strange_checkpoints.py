"""Parts whose checksums are right and whose contents are not: what a checkpoint holds is input."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import Checkpoint
from coterie.errors import CoterieError, InvalidInput, ModelFileError
from coterie.files.model_files import CheckpointFolder
from coterie.fitting import fingerprint
from tests.helpers.checkpoints import SIGNAL, X, Y

LABELS = Y["two classes"]
FITS: dict[str, tuple[Any, Any]] = {
    "boosting": (coterie.GradientBoostingRegressor(n_estimators=3, random_state=0), SIGNAL),
    "forest": (coterie.RandomForestRegressor(3, random_state=0, n_jobs=1), SIGNAL),
    "extra trees": (coterie.ExtraTreesClassifier(3, random_state=0, n_jobs=1), LABELS),
    "stumps": (coterie.AdaBoostClassifier(n_estimators=3, random_state=0), LABELS),
    "AnyBoost": (coterie.AnyBoostRegressor(n_estimators=3, random_state=0), SIGNAL),
    "R2": (coterie.AdaBoostRegressor(n_estimators=3, random_state=0), SIGNAL),
    "committee": (
        coterie.CommitteeClassifier(
            None, cv=2, portfolio=[("tree", coterie.DecisionTreeClassifier())], random_state=0
        ),
        LABELS,
    ),
}
STRANGE: list[Any] = [None, [], {}, "text", {"members": None}, {"stage": 0}, np.zeros(3)]


@pytest.fixture(autouse=True)
def _disks_do_not_keep_us_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def change(folder: Path, kind: str, name: str, value: Any) -> None:
    """Write the first file of a kind again, with something else in it."""
    files = CheckpointFolder(folder)
    part = next(part for part in files.found() if part.kind == kind)
    files.write(part, {**files.read(part, []), name: value})


@pytest.mark.parametrize("name", FITS)
def test_contents_of_another_kind_are_refused(name: str, tmp_path: Path) -> None:
    estimator, target = FITS[name]
    estimator.set_params(checkpoint=Checkpoint(tmp_path, every=1)).fit(X, target)
    kept = CheckpointFolder(tmp_path)
    part = kept.found()[0]
    before = kept.read(part, [])["content"]
    lacking = [{key: value for key, value in before.items() if key != lost} for lost in before]
    other = [{**before, key: value} for key in before for value in (None, [[]])]

    for content in [*STRANGE, *lacking, *other]:
        change(tmp_path, "part", "content", content)
        with pytest.raises(CoterieError):
            estimator.fit(X, target, resume=True)


def test_sums_out_of_bag_of_another_shape_are_refused(tmp_path: Path) -> None:
    estimator, target = FITS["forest"]
    estimator.set_params(checkpoint=tmp_path).fit(X, target)
    folder = CheckpointFolder(tmp_path)
    state = folder.read(next(part for part in folder.found() if part.kind == "state"), [])["state"]
    strange = [{**state, key: value} for key in state for value in (None, "text", np.zeros(3, np.int8))]

    for held in [*STRANGE[1:], *strange, {**state, "sums": state["sums"][1:]}]:
        change(tmp_path, "state", "state", held)
        with pytest.raises(ModelFileError):
            estimator.fit(X, target, resume=True)


def test_a_first_part_that_does_not_know_its_fit_is_refused(tmp_path: Path) -> None:
    estimator, target = FITS["boosting"]
    estimator.set_params(checkpoint=tmp_path).fit(X, target)
    for name, value in (("about", None), ("about", ["X"]), ("seed", "seven"), ("seed", None)):
        change(tmp_path, "part", name, value)
        with pytest.raises(ModelFileError, match="does not hold what the fit is about"):
            estimator.fit(X, target, resume=True)


@pytest.mark.parametrize("name", ["boosting", "forest"])
def test_a_checkpoint_of_another_revision_of_the_engine_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimator, target = FITS[name]
    estimator.set_params(checkpoint=Checkpoint(tmp_path, every=1)).fit(X, target)
    estimator.fit(X, target, resume=True)
    revision = fingerprint._engine.REVISION
    monkeypatch.setattr(fingerprint, "_engine", SimpleNamespace(REVISION=revision + 1))
    with pytest.raises(InvalidInput, match=f"the engine's revision was {revision} and is {revision + 1}"):
        estimator.fit(X, target, resume=True)
    estimator.fit(X, target)
    estimator.fit(X, target, resume=True)
