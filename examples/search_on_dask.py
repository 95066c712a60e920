"""A search and a stack whose fits are done by the workers of a Dask cluster: the results of one process."""

import joblib
import numpy as np
from distributed import Client, LocalCluster
from sklearn.model_selection import RandomizedSearchCV

import coterie


def search() -> RandomizedSearchCV:
    model = coterie.GradientBoostingRegressor(n_estimators=20, random_state=0)
    choices = {"max_leaf_nodes": [4, 8, 16], "learning_rate": [0.1, 0.3]}
    return RandomizedSearchCV(model, choices, n_iter=3, cv=2, random_state=0)


def stack() -> coterie.StackingRegressor:
    boosting = coterie.GradientBoostingRegressor(n_estimators=20, random_state=0)
    forest = coterie.RandomForestRegressor(20, random_state=0)
    return coterie.StackingRegressor([("boosting", boosting), ("forest", forest)], cv=2)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + rng.normal(0, 0.1, 800)

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    with cluster, Client(cluster), joblib.parallel_config("dask"):
        searched, stacked = search().fit(X, y), stack().fit(X, y)

    print(f"the best of the search: {searched.best_params_}")
    same = np.array_equal(
        searched.cv_results_["mean_test_score"], search().fit(X, y).cv_results_["mean_test_score"]
    )
    print(f"every score of the search is that of one process: {same}")
    print(
        f"so is every prediction of the stack: {np.array_equal(stacked.predict(X), stack().fit(X, y).predict(X))}"
    )


if __name__ == "__main__":
    main()
