"""Members of ensembles, and the fits of searches, on Dask's workers by joblib: the bits of one process."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")

import joblib
from distributed import Client
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

import coterie
from tests.helpers.streamed import mixed_table

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("client")]  # warnings of Dask

FRAME = mixed_table(0, 600)
X, Y = FRAME[["wide", "whole"]].to_numpy(), FRAME["number"].to_numpy()


class LineWithTraces(LinearRegression):
    """A line that leaves the number of the process that fitted it in a folder."""

    def __init__(self, folder: str = "", *, fit_intercept: bool = True) -> None:
        super().__init__(fit_intercept=fit_intercept)
        self.folder = folder

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        (Path(self.folder) / str(os.getpid())).touch()
        return super().fit(X, y, sample_weight)


def ensembles(line: Any) -> dict[str, Any]:
    return {
        "bagging": coterie.BaggingRegressor(line, n_estimators=4, random_state=0, n_jobs=2),
        "voting": coterie.VotingRegressor([("line", line), ("other", line)], n_jobs=2),
        "stacking": coterie.StackingRegressor([("line", line), ("other", line)], cv=3, n_jobs=2),
        "a search": GridSearchCV(line, {"fit_intercept": [True, False]}, cv=3, n_jobs=2),
    }


@pytest.mark.parametrize("kind", list(ensembles(None)))
def test_members_are_fitted_through_joblib(client: Client, tmp_path: Path, kind: str) -> None:
    traces = [tmp_path / name for name in ("cluster", "here")]
    for folder in traces:
        folder.mkdir()
    with joblib.parallel_config("dask"):
        on_cluster = ensembles(LineWithTraces(str(traces[0])))[kind].fit(X, Y)
    here = ensembles(LineWithTraces(str(traces[1])))[kind].fit(X, Y)
    np.testing.assert_array_equal(on_cluster.predict(X), here.predict(X))
    processes = {int(path.name) for path in traces[0].iterdir()}
    assert processes & set(client.run(os.getpid).values())
    if kind != "a search":  # which fits the best once more, here
        assert os.getpid() not in processes


def of_our_learners() -> dict[str, Any]:
    """Ensembles and searches whose members are estimators of ours, without a number of jobs of their own."""
    boosting = coterie.GradientBoostingRegressor(n_estimators=5, random_state=0)
    forest = coterie.RandomForestRegressor(5, random_state=0)
    grid = {"max_leaf_nodes": [4, 8], "learning_rate": [0.1, 0.3]}
    members = [("boosting", boosting), ("forest", forest)]
    return {
        "voting": coterie.VotingRegressor(members),
        "stacking": coterie.StackingRegressor(members, cv=3),
        "bagging": coterie.BaggingRegressor(boosting, n_estimators=3, random_state=0),
        "a grid": GridSearchCV(boosting, grid, cv=2),
        "a random search": RandomizedSearchCV(boosting, grid, n_iter=3, cv=2, random_state=0),
    }


@pytest.mark.parametrize("kind", list(of_our_learners()))
def test_our_learners_have_the_same_bits_there(client: Client, kind: str) -> None:
    before = n_tasks(client)
    with joblib.parallel_config("dask"):
        on_cluster = of_our_learners()[kind].fit(X, Y)
    assert n_tasks(client) > before, "the workers have done it"
    here = of_our_learners()[kind].fit(X, Y)
    np.testing.assert_array_equal(on_cluster.predict(X), here.predict(X))
    if hasattr(here, "best_params_"):
        assert on_cluster.best_params_ == here.best_params_
        np.testing.assert_array_equal(
            on_cluster.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"]
        )


def n_tasks(client: Client) -> int:
    """Changes of tasks that the scheduler has seen so far."""

    def counted(dask_scheduler: Any = None) -> int:
        return int(dask_scheduler.transition_counter)

    return int(client.run_on_scheduler(counted))


def test_a_committee_is_the_same_there() -> None:
    """Its members are fitted one by one, where `fit` is called: each decides whether there is time for the next."""
    members = [("line", LinearRegression()), "extra_trees"]
    committee = coterie.CommitteeRegressor(None, portfolio=members, cv=3, n_jobs=2, random_state=0)
    with joblib.parallel_config("dask"):
        inside = committee.fit(X, Y).predict(X)
    np.testing.assert_array_equal(inside, committee.fit(X, Y).predict(X))
