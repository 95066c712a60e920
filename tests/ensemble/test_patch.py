"""`patch_sklearn` and `python -m coterie.patch`."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.datasets import load_wine

import coterie
from coterie.errors import InvalidParameter
from coterie.patch import replaceable

ORIGINAL = sklearn.ensemble.RandomForestClassifier
SCRIPT = """
import sys
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
X, y = load_wine(return_X_y=True)
model = RandomForestClassifier(20, random_state=0).fit(X, y)
print(type(model).__module__, model.score(X, y), sys.argv[1:])
"""


def test_nothing_is_patched_at_import() -> None:
    code = (
        "import coterie, coterie.ensemble, sklearn.ensemble as e; print(e.RandomForestClassifier.__module__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sklearn.ensemble._forest"]


def test_a_patch_says_what_it_did_and_is_undone(capsys: pytest.CaptureFixture[str]) -> None:
    patch = coterie.patch_sklearn()
    try:
        assert set(patch.replaced) == set(replaceable())
        assert sklearn.ensemble.RandomForestClassifier is coterie.ensemble.RandomForestClassifier
        assert "RandomForestClassifier" in capsys.readouterr().err
        for name in patch.kept:
            assert name in repr(patch)
    finally:
        patch.undo()
    assert sklearn.ensemble.RandomForestClassifier is ORIGINAL


def test_a_patch_lasts_for_a_block_and_takes_only_what_is_named() -> None:
    with coterie.patch_sklearn(["BaggingClassifier"], verbose=False) as patch:
        assert patch.replaced == ("BaggingClassifier",)
        assert sklearn.ensemble.BaggingClassifier is coterie.ensemble.BaggingClassifier
        assert sklearn.ensemble.RandomForestClassifier is ORIGINAL
        with coterie.patch_sklearn(verbose=False):
            assert sklearn.ensemble.RandomForestClassifier is not ORIGINAL
        assert sklearn.ensemble.BaggingClassifier is coterie.ensemble.BaggingClassifier
    assert sklearn.ensemble.BaggingClassifier.__module__.startswith("sklearn.")


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="nothing to put in place of 'Forest'"):
        coterie.patch_sklearn(["Forest"])
    assert sklearn.ensemble.RandomForestClassifier is ORIGINAL


def test_pickles_are_read_without_a_patch() -> None:
    X, y = load_wine(return_X_y=True)
    theirs = ORIGINAL(5, random_state=0).fit(X, y)
    with coterie.patch_sklearn(verbose=False):
        ours = sklearn.ensemble.RandomForestClassifier(5, random_state=0).fit(X, y)
        kept, own = pickle.dumps(theirs), pickle.dumps(ours)
        assert type(pickle.loads(kept)) is ORIGINAL
    np.testing.assert_array_equal(pickle.loads(own).predict(X), ours.predict(X))


def test_an_unchanged_script_runs_on_coterie(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "coterie.patch", str(script), "--more", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    module, score, *arguments = done.stdout.split(maxsplit=2)
    assert (module, arguments) == ("coterie.ensemble.forests", ["['--more', '1']\n"])
    assert float(score) > 0.95
    assert "RandomForestClassifier" in done.stderr


def test_without_a_script_the_usage_is_shown() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "coterie.patch"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "usage" in done.stderr
