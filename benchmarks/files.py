"""Size and load time of model files, beside LightGBM, XGBoost and scikit-learn: `python benchmarks/files.py`.

Two models: boosting with 500 trees of 255 leaves, and a forest of 100 unpruned trees, both on 200,000 rows of 20
numbers. Each library stores its own model in its own way. Loading is the median of several by turns, with the files
in the cache of the system. Libraries that are not installed are left out; `--rows 20000` makes it quick.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sklearn.datasets import make_classification

import coterie

Load = Callable[[Path], Any]
Entry = tuple[str, Callable[[Path], Any], Load]


def boosting(X: Any, y: Any) -> Iterator[Entry]:
    model = coterie.GradientBoostingClassifier(
        n_estimators=500, max_leaf_nodes=255, learning_rate=0.1, random_state=0, early_stopping=False
    ).fit(X, y)
    yield "coterie", lambda path: coterie.save(model, path), coterie.load
    if find_spec("lightgbm"):
        import lightgbm

        own = lightgbm.LGBMClassifier(n_estimators=500, num_leaves=255, verbose=-1).fit(X, y).booster_
        yield "LightGBM, text", own.save_model, lambda path: lightgbm.Booster(model_file=path)
    if find_spec("xgboost"):
        # Without min_child_weight=0 many of its trees end before they have 255 leaves.
        yield _xgboost(
            "XGBoost, UBJ", X, y, "XGBClassifier", n_estimators=500, max_leaves=255, min_child_weight=0
        )
    from sklearn.ensemble import HistGradientBoostingClassifier

    other = HistGradientBoostingClassifier(max_iter=500, max_leaf_nodes=255, early_stopping=False).fit(X, y)
    yield from _joblib("scikit-learn", other)


def forest(X: Any, y: Any) -> Iterator[Entry]:
    model = coterie.RandomForestClassifier(n_estimators=100, random_state=0).fit(X, y)
    yield "coterie", lambda path: coterie.save(model, path), coterie.load
    yield (
        "coterie, mapped",
        lambda path: coterie.save(model, path, compact=False),
        lambda path: coterie.load(path, mmap=True),
    )
    bare = coterie.RandomForestClassifier(n_estimators=100, random_state=0, keep_rows=False).fit(X, y)
    yield "coterie, keep_rows=False", lambda path: coterie.save(bare, path), coterie.load
    if find_spec("xgboost"):
        yield _xgboost(
            "XGBoost, UBJ",
            X,
            y,
            "XGBRFClassifier",
            n_estimators=100,
            max_leaves=0,
            min_child_weight=0,
            reg_lambda=0,
        )
    from sklearn.ensemble import RandomForestClassifier

    yield from _joblib("scikit-learn", RandomForestClassifier(100, random_state=0, n_jobs=-1).fit(X, y))


def _xgboost(name: str, X: Any, y: Any, kind: str, **options: Any) -> Entry:
    import xgboost

    own = getattr(xgboost, kind)(max_depth=0, grow_policy="lossguide", tree_method="hist", **options).fit(
        X, y
    )

    def load(path: Path) -> Any:
        booster = xgboost.Booster()
        booster.load_model(path)
        return booster

    return name, own.save_model, load


def _joblib(name: str, model: Any) -> Iterator[Entry]:
    import joblib

    yield f"{name}, joblib", lambda path: joblib.dump(model, path), joblib.load
    yield f"{name}, joblib compress=3", lambda path: joblib.dump(model, path, compress=3), joblib.load


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(title: str, entries: Iterator[Entry], folder: Path, repeats: int) -> None:
    """Print a table; the libraries load by turns, so that what else the machine does falls on all of them."""
    saving: dict[str, float] = {}
    loads: dict[str, Callable[[], Any]] = {}
    sizes: dict[str, float] = {}
    for place, (name, save, load) in enumerate(entries):
        path = folder / f"model{place}.ubj"
        saving[name] = seconds(partial(save, path))
        loads[name] = partial(load, path)
        sizes[name] = path.stat().st_size / 1e6
    loading = [{name: seconds(load) for name, load in loads.items()} for _ in range(repeats)]
    print(f"\n{title}\n\n| | file | load | save |\n|---|---|---|---|")
    for name in loads:
        median = statistics.median(times[name] for times in loading)
        print(f"| {name} | {sizes[name]:.1f} MB | {1000 * median:.1f} ms | {1000 * saving[name]:.0f} ms |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=15)
    given = parser.parse_args()
    X, y = make_classification(given.rows, 20, n_informative=12, n_redundant=4, flip_y=0.05, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        for title, entries in (
            ("boosting, 500 trees of 255 leaves", boosting),
            ("forest, 100 unpruned trees", forest),
        ):
            compare(title, entries(X, y), Path(folder), given.repeats)


if __name__ == "__main__":
    main()
