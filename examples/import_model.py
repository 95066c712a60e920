"""Models that scikit-learn trained answer on coterie's engine, and nobody can tell by their answers.

The same call takes models of LightGBM and XGBoost, and the files they save.
"""

from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor

from coterie.export import import_model


def milliseconds(model: Any, X: np.ndarray) -> float:
    model.predict(X[:100])  # the first question takes longer
    start = perf_counter()
    model.predict(X)
    return 1000 * (perf_counter() - start)


def main() -> None:
    X, y = make_friedman1(2000, noise=0.5, random_state=0)
    new, _ = make_friedman1(20_000, random_state=1)

    boosting = GradientBoostingRegressor(n_estimators=100, max_depth=4, random_state=0).fit(X, y)
    forest = ExtraTreesRegressor(50, min_samples_leaf=2, random_state=0).fit(X, y)
    for original in (boosting, forest):
        model = import_model(original)
        gap = np.abs(model.predict(new) - original.predict(new)).max()
        same = (model.apply(new) == original.apply(new).reshape(len(new), -1)).all()
        print(
            f"{type(original).__name__} and {model!r}: answers differ by {gap:.1g}; the same leaves: {bool(same)}"
        )

    before, after = milliseconds(boosting, new), milliseconds(import_model(boosting), new)
    print(
        f"{len(new)} rows through 100 trees of boosting: {before:.0f} ms before, {after:.0f} ms after the import"
    )


if __name__ == "__main__":
    main()
