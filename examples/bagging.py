"""Bagging of learners that are not trees: nearest neighbours that each see some columns, and what members disagree on.

A single nearest neighbour learns every row by heart. Copies of it that draw rows and columns of their own err in other
places, and out of bag one can watch the error fall as members are added. In the end a few members are kept.
"""

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from coterie import BaggingRegressor, prune


def patients(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Twelve measurements, each a mixture of three things that cannot be seen, and what depends on these."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_rows, 3))
    mixture = np.random.default_rng(0).normal(size=(3, 12))
    X = hidden @ mixture + rng.normal(size=(n_rows, 12))
    return X, hidden[:, 0] + np.abs(hidden[:, 1]) + 0.3 * rng.normal(size=n_rows)


def main() -> None:
    X, dose = patients(600, seed=0)
    new_X, new_dose = patients(600, seed=1)
    neighbour = KNeighborsRegressor(1)

    alone = neighbour.fit(X, dose).score(new_X, new_dose)
    print(f"R2 of one nearest neighbour on new patients: {alone:.3f}")
    for settings in ({}, {"max_features": 6}, {"max_samples": 0.5, "max_features": 6}):
        model = BaggingRegressor(neighbour, "auto", random_state=0, **settings).fit(X, dose)
        print(
            f"Bagging {settings}: {model.oob_score_:.3f} out of bag, "
            f"{model.score(new_X, new_dose):.3f} on new patients, settled after {model.n_estimators_} members"
        )

    print("The out-of-bag error after 1, 5, 25 and all members:", model.oob_errors_[[0, 4, 24, -1]].round(3))
    mean, spread = model.predict(new_X, return_std=True)
    sure, unsure = spread < np.quantile(spread, 0.2), spread > np.quantile(spread, 0.8)
    errors = np.abs(mean - new_dose)
    print(
        f"The mean error is {errors[sure].mean():.3f} where members agree most, "
        f"{errors[unsure].mean():.3f} where they agree least."
    )

    check_X, check_dose = patients(300, seed=2)
    small = prune(model, check_X, check_dose, to=30)
    print(
        f"R2 on new patients of {small.n_estimators_} of the {model.n_estimators_} members, chosen on others: "
        f"{small.score(new_X, new_dose):.3f}"
    )


if __name__ == "__main__":
    main()
