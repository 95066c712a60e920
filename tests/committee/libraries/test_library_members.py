"""Members of other libraries: any table, weights, files without code; and advice where the library is absent."""

from typing import Any

import numpy as np
import pytest

from coterie import CommitteeClassifier, CommitteeRegressor, _optional, load, save
from coterie.committee.libraries import LIBRARIES, LibraryClassifier, LibraryRegressor
from coterie.committee.libraries.member import _two_parts
from coterie.errors import InvalidParameter, MissingPackage, ModelFileError

RNG = np.random.default_rng(0)
X = {
    "size": np.where(RNG.random(240) < 0.1, np.nan, RNG.normal(size=240)),
    "town": RNG.choice(["Oslo", "Rome", "Cork"], 240),
}
Y = np.nan_to_num(X["size"]) + 2.0 * (X["town"] == "Oslo")
KINDS = np.where(Y > 1.5, "high", np.where(Y > 0.0, "middle", "low"))


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_and_classes_are_learned_and_kept_as_bytes(library: str, tmp_path: Any) -> None:
    pytest.importorskip(library)
    numbers = LibraryRegressor(library, n_jobs=1, random_state=0).fit(X, Y)
    assert np.corrcoef(numbers.predict(X), Y)[0, 1] > 0.9
    for target in (KINDS, KINDS == "low"):
        classes = LibraryClassifier(library, n_jobs=1, random_state=0).fit(X, target, np.ones(240))
        proba = classes.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-5)
        assert (classes.predict(X) == target).mean() > 0.8
        save(classes, tmp_path / "member.coterie")
        np.testing.assert_array_equal(load(tmp_path / "member.coterie").predict_proba(X), proba)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_committee_takes_them_by_name(library: str, tmp_path: Any) -> None:
    pytest.importorskip(library)
    model = CommitteeRegressor(None, portfolio=[library], cv=3, n_jobs=1, random_state=0).fit(X, Y)
    assert model.members_ == [library]
    save(model, tmp_path / "model.coterie")
    np.testing.assert_array_equal(load(tmp_path / "model.coterie").predict(X), model.predict(X))
    np.testing.assert_array_equal(model.repeat(X, Y).predict(X), model.predict(X))


def test_they_never_take_part_unasked() -> None:
    model = CommitteeClassifier(None, max_members=1, random_state=0).fit(X, KINDS)
    assert not set(LIBRARIES) & {*model.members_, *model.skipped_}


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_not_installed_is_an_error_with_advice(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(_optional, "import_module", absent)
    with pytest.raises(MissingPackage, match=f"pip install '{library}'"):
        CommitteeRegressor(None, portfolio=["linear", library], random_state=0).fit(X, Y)


def test_a_name_of_nobody_lists_the_libraries() -> None:
    with pytest.raises(InvalidParameter, match="'lightgbm', 'xgboost', 'catboost'"):
        CommitteeRegressor(None, portfolio=["lightgbn"]).fit(X, Y)


def test_rows_that_stop_are_drawn_by_groups_and_leave_every_class() -> None:
    groups, target = np.arange(100) // 5, np.zeros(100)
    target[:2] = 1.0
    learn, stop = _two_parts(np.ones(100), target, groups, 2, seed=0)
    assert not set(groups[learn]) & (set(groups[stop]) - {0})
    assert 5 <= len(stop) <= 10
    assert set(target[learn]) == {0.0, 1.0}


def test_a_file_of_an_unknown_library_is_refused(tmp_path: Any) -> None:
    model = LibraryRegressor("lightgbm")
    model.library = "nothing"
    save(model, tmp_path / "member.coterie")
    with pytest.raises(ModelFileError, match="library that is not known"):
        load(tmp_path / "member.coterie")
