"""The folder of a checkpoint: what is in it, whose it is, and what becomes of damage and of strangers."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import Checkpoint, GradientBoostingRegressor, RandomForestRegressor
from coterie.errors import InvalidInput, InvalidParameter, ModelFileError
from tests.helpers.checkpoints import SIGNAL, X, bits, killed_after, parts_in
from tests.helpers.oracles import needs_callbacks


@pytest.fixture(autouse=True)
def _disks_do_not_keep_us_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def boosting(folder: Any, **more: Any) -> GradientBoostingRegressor:
    checkpoint = Checkpoint(folder, every=1)
    return GradientBoostingRegressor(
        **{"n_estimators": 6, "random_state": 0, "checkpoint": checkpoint, **more}
    )


def forest(folder: Any, **more: Any) -> RandomForestRegressor:
    return RandomForestRegressor(6, random_state=0, n_jobs=1, checkpoint=Checkpoint(folder, every=1), **more)


def whole(make: Any) -> bytes:
    return bits(make("unused").set_params(checkpoint=None).fit(X, SIGNAL))


def names(folder: Path) -> list[str]:
    return sorted(path.name.split("-", 2)[-1] for path in folder.iterdir())


def test_each_part_holds_what_is_new(tmp_path: Path) -> None:
    boosting(tmp_path).fit(X, SIGNAL)
    sizes = [path.stat().st_size for path in parts_in(tmp_path)]

    assert names(tmp_path) == [f"{number:06d}.part" for number in range(1, 7)]
    assert max(sizes[1:]) < 1.5 * min(sizes[1:])


def test_parts_are_as_far_apart_as_the_user_says(tmp_path: Path) -> None:
    for name, checkpoint, n_parts in (
        ("every 4", Checkpoint(tmp_path / "every 4", every=4, seconds=None), 3),
        ("at the end", Checkpoint(tmp_path / "at the end", seconds=None), 1),
        ("at once", Checkpoint(tmp_path / "at once", seconds=0), 10),
        ("a path", str(tmp_path / "a path"), 1),
    ):
        boosting(None, n_estimators=10, checkpoint=checkpoint).fit(X, SIGNAL)
        assert len(parts_in(tmp_path / name)) == n_parts, name


def test_sums_out_of_bag_are_kept_twice(tmp_path: Path) -> None:
    forest(tmp_path).fit(X, SIGNAL)

    assert [name for name in names(tmp_path) if name.endswith("state")] == ["000005.state", "000006.state"]


@pytest.mark.parametrize("damage", ["cut", "flip", "other"])
@pytest.mark.parametrize("make", [boosting, forest])
def test_a_damaged_part_ends_the_journal_before_it(make: Any, damage: str, tmp_path: Path) -> None:
    make(tmp_path).fit(X, SIGNAL)
    newest = parts_in(tmp_path)[-1]
    data = bytearray(newest.read_bytes())
    data[len(data) // 2] ^= 4
    newest.write_bytes({"cut": data[:-9], "flip": data, "other": b"hello" * 99}[damage])

    with pytest.warns(UserWarning, match="a file cannot be used, so the fit goes on from part 5"):
        model = make(tmp_path).fit(X, SIGNAL, resume=True)
    assert bits(model) == whole(make)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bits(make(tmp_path).fit(X, SIGNAL, resume=True)) == whole(make)


def test_a_part_that_is_missing_ends_the_journal_before_it(tmp_path: Path) -> None:
    boosting(tmp_path).fit(X, SIGNAL)
    parts_in(tmp_path)[4].unlink()

    with pytest.warns(UserWarning, match="goes on from part 4.*part 5 is missing"):
        model = boosting(tmp_path).fit(X, SIGNAL, resume=True)
    assert bits(model) == whole(boosting)
    assert len(parts_in(tmp_path)) == 6


@pytest.mark.parametrize("make", [boosting, forest])
def test_if_nothing_can_be_read_the_fit_begins_anew(make: Any, tmp_path: Path) -> None:
    make(tmp_path).fit(X, SIGNAL)
    parts_in(tmp_path)[0].write_bytes(b"")

    with pytest.warns(UserWarning, match="so the fit begins anew"):
        model = make(tmp_path).fit(X, SIGNAL, resume=True)
    assert bits(model) == whole(make)
    assert len({path.name.split("-")[1] for path in tmp_path.iterdir()}) == 1


def test_without_the_state_of_the_newest_part_the_one_before_is_used(tmp_path: Path) -> None:
    forest(tmp_path).fit(X, SIGNAL)
    states = sorted(tmp_path.glob("*.state"))
    states[-1].unlink()

    with pytest.warns(UserWarning, match="goes on from part 5"):
        model = forest(tmp_path).fit(X, SIGNAL, resume=True)
    assert bits(model) == whole(forest)

    for state in tmp_path.glob("*.state"):
        state.unlink()
    with pytest.warns(UserWarning, match="begins anew"):
        assert bits(forest(tmp_path).fit(X, SIGNAL, resume=True)) == whole(forest)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"max_depth": 3}, "max_depth was None and is 3"),
        ({"n_estimators": 9}, "n_estimators was 6 and is 9"),
        ({"random_state": 1}, "random_state was 0 and is 1"),
        ({"monotonic_cst": [1, 0, 0, 0]}, r"monotonic_cst was None and is \[1, 0, 0, 0\]"),
        ({"X": X + 1}, ": X. "),
        ({"X": X[:-1], "y": SIGNAL[:-1]}, ": X; y. "),
        ({"X": X[:, :3]}, ": X; the columns of X. "),
        ({"y": SIGNAL * 2}, ": y. "),
        ({"sample_weight": np.arange(1.0, 121.0)}, ": sample_weight or class_weight. "),
        ({"groups": np.arange(120) % 3}, ": groups. "),
        ({"offset": SIGNAL}, ": offset. "),
        ({"eval_set": (X, SIGNAL)}, ": eval_set. "),
    ],
)
def test_another_fit_does_not_go_on_from_here(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with killed_after(2):
        boosting(tmp_path).fit(X, SIGNAL)
    before = names(tmp_path)
    params = {name: change[name] for name in change if hasattr(boosting(tmp_path), name)}
    given = {"X": X, "y": SIGNAL} | {name: value for name, value in change.items() if name not in params}

    with pytest.raises(InvalidInput, match=f"is the checkpoint of another fit.*{said}"):
        boosting(tmp_path, **params).fit(**given, resume=True)
    assert names(tmp_path) == before


def test_threads_and_words_make_no_other_fit(tmp_path: Path) -> None:
    with killed_after(2):
        forest(tmp_path).fit(X, SIGNAL)
    other = forest(tmp_path).set_params(n_jobs=2, checkpoint=str(tmp_path)).fit(X, SIGNAL, resume=True)

    assert bits(other.set_params(n_jobs=1)) == whole(forest)


def test_the_same_table_in_another_form_is_the_same_table(tmp_path: Path) -> None:
    with killed_after(2):
        boosting(tmp_path).fit(X, SIGNAL)
    assert bits(boosting(tmp_path).fit(np.asfortranarray(X), list(SIGNAL), resume=True)) == whole(boosting)


def test_another_class_does_not_go_on_from_here(tmp_path: Path) -> None:
    boosting(tmp_path).fit(X, SIGNAL)
    with pytest.raises(
        InvalidInput, match="the class was GradientBoostingRegressor and is RandomForestRegressor"
    ):
        forest(tmp_path).fit(X, SIGNAL, resume=True)


def test_an_empty_folder_is_a_fresh_start(tmp_path: Path) -> None:
    assert bits(boosting(tmp_path / "new" / "folder").fit(X, SIGNAL, resume=True)) == whole(boosting)


def test_without_resume_the_old_checkpoint_is_replaced(tmp_path: Path) -> None:
    boosting(tmp_path).fit(X, SIGNAL)
    old = set(tmp_path.iterdir())
    model = boosting(tmp_path, n_estimators=2).fit(X, SIGNAL)

    assert len(parts_in(tmp_path)) == 2
    assert not old & set(tmp_path.iterdir())
    assert bits(boosting(tmp_path, n_estimators=2).fit(X, SIGNAL, resume=True)) == bits(model)


def test_an_error_before_the_first_round_leaves_the_old_checkpoint(tmp_path: Path) -> None:
    boosting(tmp_path).fit(X, SIGNAL)
    old = names(tmp_path)
    with pytest.raises(InvalidParameter, match="max_depth"):
        boosting(tmp_path, max_depth=-1).fit(X, SIGNAL)
    assert names(tmp_path) == old


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    strangers = ["notes.txt", "fit-xyz-000001.part", "fit-12345678-000001.part.bak", ".hidden"]
    for name in strangers:
        (tmp_path / name).write_text("mine")
    (tmp_path / "fit-00000000-000009.folder").mkdir()
    for resume in (True, False):
        boosting(tmp_path).fit(X, SIGNAL, resume=resume)

    assert all((tmp_path / name).read_text() == "mine" for name in strangers)
    assert (tmp_path / "fit-00000000-000009.folder").is_dir()


@needs_callbacks
def test_two_fits_do_not_share_a_folder(tmp_path: Path) -> None:
    class FitsAnother:
        def setup(self, estimator: Any, context: Any) -> None: ...

        def teardown(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
            boosting(tmp_path, n_estimators=1).fit(X, SIGNAL)
            return False

    with pytest.raises(InvalidInput, match="another fit writes its checkpoints here"):
        boosting(tmp_path).set_callbacks(FitsAnother()).fit(X, SIGNAL)


def test_parts_of_two_fits_are_refused(tmp_path: Path) -> None:
    boosting(tmp_path / "one").fit(X, SIGNAL)
    boosting(tmp_path / "two").fit(X, SIGNAL)
    for part in parts_in(tmp_path / "two"):
        part.rename(tmp_path / "one" / part.name)

    with pytest.raises(InvalidInput, match="holds the checkpoints of 2 fits"):
        boosting(tmp_path / "one").fit(X, SIGNAL, resume=True)


def test_a_part_of_another_fit_with_a_name_of_this_one_is_noticed(tmp_path: Path) -> None:
    boosting(tmp_path / "one").fit(X, SIGNAL)
    boosting(tmp_path / "two", max_depth=1).fit(X, SIGNAL)
    parts_in(tmp_path / "two")[3].rename(parts_in(tmp_path / "one")[3])

    with pytest.warns(UserWarning, match="goes on from part 3.*part 4 belongs to another fit"):
        model = boosting(tmp_path / "one").fit(X, SIGNAL, resume=True)
    assert bits(model) == whole(boosting)


def test_a_disk_that_is_full_does_not_end_a_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from coterie.files import model_files

    replace_file, calls = model_files.replace_file, []

    def full_for_a_while(path: Any, chunks: Any) -> None:
        calls.append(path)
        if 2 <= len(calls) <= 3:
            raise OSError(28, "No space left on device")
        replace_file(path, chunks)

    monkeypatch.setattr(model_files, "replace_file", full_for_a_while)
    with pytest.warns(UserWarning, match="could not be written, and will be tried again.*No space left"):
        model = boosting(tmp_path).fit(X, SIGNAL)
    assert bits(model) == whole(boosting)
    assert len(parts_in(tmp_path)) < 6
    for part in parts_in(tmp_path)[-1:]:
        part.unlink()
    assert bits(boosting(tmp_path).fit(X, SIGNAL, resume=True)) == whole(boosting)


@pytest.mark.parametrize(
    ("params", "fit", "said"),
    [
        ({"checkpoint": 3}, {}, "expected the path of a folder or a coterie.Checkpoint"),
        ({"checkpoint": ""}, {}, "expected the path of a folder"),
        ({"checkpoint": Checkpoint("there", every=0)}, {}, "every >= 1"),
        ({"checkpoint": Checkpoint("there", seconds=-1)}, {}, "seconds >= 0"),
        ({"checkpoint": Checkpoint("there", trusted="all")}, {}, "trusted, a list of names"),  # type: ignore[arg-type]
        ({"checkpoint": None}, {"resume": True}, "needs|goes on from a checkpoint, and checkpoint=None"),
        ({}, {"resume": "yes"}, r"resume='yes'\): expected True or False"),
        ({"warm_start": True}, {}, "cannot be combined with warm_start=True"),
    ],
)
def test_what_cannot_be_is_said(
    params: dict[str, Any], fit: dict[str, Any], said: str, tmp_path: Path
) -> None:
    for make in (boosting, forest):
        with pytest.raises(InvalidParameter, match=said):
            make(tmp_path).set_params(**params).fit(X, SIGNAL, **fit)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameter, match="cannot be a folder"):
        boosting(tmp_path / "file").fit(X, SIGNAL)


def test_a_part_is_no_model(tmp_path: Path) -> None:
    boosting(tmp_path).fit(X, SIGNAL)
    for read in (coterie.load, coterie.inspect_file):
        with pytest.raises(ModelFileError, match="is a part of a checkpoint and no model"):
            read(parts_in(tmp_path)[0])


def test_a_model_is_no_part(tmp_path: Path) -> None:
    model = boosting(tmp_path).fit(X, SIGNAL)
    coterie.save(model, parts_in(tmp_path)[0])
    with pytest.warns(UserWarning, match="begins anew"):
        assert bits(boosting(tmp_path).fit(X, SIGNAL, resume=True)) == whole(boosting)
