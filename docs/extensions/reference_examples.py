"""Examples of public names whose docstrings have none: mostly what a function returns, and variants of one idea."""

from docstrings import defaults_of
from reference_topics import found_at

_ENSEMBLE = """\
>>> from sklearn.datasets import load_wine
>>> from coterie import RandomForestClassifier
>>> X, y = load_wine(return_X_y=True)
>>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
"""
_REGRESSION_LOSS = """\
>>> import numpy as np
>>> from coterie import GradientBoostingRegressor
>>> from coterie.losses import {name}
>>> X = np.arange(40.0).reshape(-1, 1)
>>> model = GradientBoostingRegressor(loss={name}(), n_estimators=5).fit(X, 0.1 + 0.02 * X[:, 0])
>>> bool(model.predict(X[:1])[0] < model.predict(X[-1:])[0])
True
"""
_CLASS_LOSS = """\
>>> import numpy as np
>>> from coterie import GradientBoostingClassifier
>>> from coterie.losses import {name}
>>> X = np.arange(40.0).reshape(-1, 1)
>>> model = GradientBoostingClassifier(loss={name}(), n_estimators=5).fit(X, X[:, 0] > 19)
>>> model.predict([[1.0], [30.0]])
array([False,  True])
"""
_ERROR = """\
>>> from coterie.errors import CoterieError, {name}
>>> issubclass({name}, CoterieError)
True
"""
_REGRESSION_LOSSES = (
    "Absolute",
    "CrossEntropy",
    "Expectile",
    "Gamma",
    "Huber",
    "Poisson",
    "Quantile",
    "Squared",
    "Tweedie",
)
_ERRORS = (
    "InvalidInput",
    "InvalidParameter",
    "InvalidType",
    "MissingPackage",
    "ModelFileError",
    "SchemaMismatch",
    "WorkerLostError",
)

EXAMPLES: dict[str, str] = {
    **{f"coterie.losses.{name}": _REGRESSION_LOSS.format(name=name) for name in _REGRESSION_LOSSES},
    **{f"coterie.losses.{name}": _CLASS_LOSS.format(name=name) for name in ("Exponential", "LogLoss")},
    **{f"coterie.errors.{name}": _ERROR.format(name=name) for name in _ERRORS},
    "coterie.committee.Leaderboard": """\
>>> from coterie import CommitteeClassifier
>>> from coterie.datasets import load_table
>>> table, y = load_table("iris")
>>> model = CommitteeClassifier(time_limit=None, portfolio=["linear"], random_state=0).fit(table, y)
>>> type(model.leaderboard()).__name__, model.leaderboard().metric
('Leaderboard', 'log_loss')
""",
    "coterie.diagnostics.DependenceCurve": _ENSEMBLE
    + """\
>>> from coterie.diagnostics import dependence
>>> type(dependence(forest, X, [0], target=1).curves[0]).__name__
'DependenceCurve'
""",
    "coterie.diagnostics.Reliability": _ENSEMBLE
    + """\
>>> from coterie.diagnostics import calibration
>>> type(calibration(forest, X, y).of("top")).__name__
'Reliability'
""",
    "coterie.explain.Explanation": _ENSEMBLE
    + """\
>>> forest.explain(X[:5]).values.shape
(5, 13, 3)
""",
    "coterie.plots.Display": _ENSEMBLE
    + """\
>>> from coterie.plots import Display, ImportanceDisplay
>>> display = ImportanceDisplay.from_estimator(forest, X, y, random_state=0)
>>> isinstance(display, Display), display.to_svg()[:4]
(True, '<svg')
""",
    "coterie.plots.KappaErrorDisplay": _ENSEMBLE
    + """\
>>> from coterie.diagnostics import diversity
>>> from coterie.plots import KappaErrorDisplay
>>> KappaErrorDisplay(diversity(forest, X, y)).to_svg()[:4]
'<svg'
""",
    "coterie.plots.VotersDisplay": _ENSEMBLE
    + """\
>>> from coterie.diagnostics import voters
>>> from coterie.plots import VotersDisplay
>>> VotersDisplay(voters(forest, X, y)).to_svg()[:4]
'<svg'
""",
    "coterie.diagnostics.fit_by_step": """\
>>> import numpy as np
>>> from coterie import GradientBoostingRegressor
>>> from coterie.diagnostics import fit_by_step
>>> X = np.arange(40.0).reshape(-1, 1)
>>> model = GradientBoostingRegressor(n_estimators=5).fit(X, np.sin(X[:, 0] / 5))
>>> type(fit_by_step(model, X, np.sin(X[:, 0] / 5))).__name__
'FitBySteps'
""",
    "coterie.diagnostics.ranking_curve": """\
>>> from coterie.diagnostics import ranking_curve
>>> curve = ranking_curve([True, False, True, False], [0.9, 0.6, 0.7, 0.1])
>>> type(curve).__name__
'RankingCurve'
""",
    "coterie.losses.registered_losses": """\
>>> from coterie.losses import registered_losses
>>> len(registered_losses()) > 10
True
""",
    "coterie.explain.PartMethod": """\
>>> from coterie import CommitteeRegressor
>>> from coterie.datasets import load_table
>>> table, y = load_table("diabetes")
>>> model = CommitteeRegressor(time_limit=None, portfolio=["linear"], random_state=0).fit(table, y)
>>> [part] = model.explain({name: values[:20] for name, values in table.items()}).methods
>>> part.name, part.weight
('linear', 1.0)
""",
    "coterie.losses.RowLoss": """\
>>> import numpy as np
>>> from coterie.losses import RowLoss, Squared
>>> loss: RowLoss = Squared()
>>> y, raw = np.array([1.0, 2.0]), np.array([[0.0], [0.0]])
>>> loss.values(y, raw), loss.gradients(y, raw).ravel()
(array([0.5, 2. ]), array([-1., -2.]))
""",
    "coterie.losses.Loss": """\
>>> from coterie.losses import Loss, Squared
>>> loss: Loss = Squared()
>>> loss.name, sorted(loss.tasks)
('squared_error', ['regression'])
""",
    "coterie.losses.BoundLoss": """\
>>> import numpy as np
>>> from coterie.losses import BoundLoss, Squared
>>> bound: BoundLoss = Squared().bind(np.array([1.0, 2.0, 6.0]), None, n_threads=1)
>>> bound.baseline, bound.n_outputs
(array([3.]), 1)
""",
    "coterie.losses.InitScore": """\
>>> import numpy as np
>>> from coterie.losses import InitScore, Squared
>>> init = InitScore(offset=np.array([[1.0], [1.0], [4.0]]))
>>> Squared().bind(np.array([1.0, 2.0, 6.0]), None, n_threads=1, init=init).baseline  # on top of the offset
array([1.])
""",
    "coterie.losses.ClassificationLoss": """\
>>> import numpy as np
>>> from coterie.losses import ClassificationLoss, LogLoss
>>> loss: ClassificationLoss = LogLoss()
>>> loss.probabilities(np.array([[0.0]]))  # log odds of 0
array([[0.5, 0.5]])
""",
    "coterie.losses.RegressionLoss": """\
>>> import numpy as np
>>> from coterie.losses import Poisson, RegressionLoss
>>> loss: RegressionLoss = Poisson()
>>> loss.predictions(np.array([[0.0]]))  # the exponential of the raw prediction
array([1.])
""",
}

# For those who write losses or tools of their own: what to read beside the example.
INTERFACES = {
    f"coterie.losses.{name}": "How to write one: [add a loss](/develop/add-a-loss.md)."
    for name in ("BoundLoss", "ClassificationLoss", "InitScore", "Loss", "RegressionLoss", "RowLoss")
}

_SUPERVISED = """\
>>> from sklearn.datasets import {loader}
>>> from coterie.ensemble import {name}{members}
>>> X, y = {loader}(return_X_y=True)
>>> model = {name}({arguments}).fit(X, y)
>>> bool(model.score(X, y) > {least})
True
"""
_UNSUPERVISED = {
    "IsolationForest": """\
>>> from coterie.ensemble import IsolationForest
>>> model = IsolationForest(random_state=0).fit([[1.0], [1.1], [1.2], [0.9], [9.0]])
>>> model.predict([[1.05], [9.0]])  # -1 is an outlier
array([ 1, -1])
""",
    "RandomTreesEmbedding": """\
>>> from coterie.ensemble import RandomTreesEmbedding
>>> embedding = RandomTreesEmbedding(n_estimators=3, max_depth=1, random_state=0)
>>> embedding.fit_transform([[0.0], [1.0], [5.0]]).shape  # two leaves a tree
(3, 6)
""",
    "BaseEnsemble": """\
>>> from coterie.ensemble import BaseEnsemble
>>> from sklearn.ensemble import BaseEnsemble as Theirs
>>> BaseEnsemble is Theirs
True
""",
}


def example_of_mirror(path: str) -> str:
    """An example of a class of `coterie.ensemble`."""
    name = path.rpartition(".")[2]
    if name in _UNSUPERVISED:
        return _UNSUPERVISED[name]
    kind = "Classifier" if name.endswith("Classifier") else "Regressor"
    arguments, members = "", ""
    if name.startswith(("Voting", "Stacking")):
        members = f", ExtraTrees{kind}, RandomForest{kind}"
        arguments = (
            f'[("forest", RandomForest{kind}(random_state=0)), ("extra", ExtraTrees{kind}(random_state=0))]'
        )
    elif "random_state" in defaults_of(found_at(path)):
        arguments = "random_state=0"
    loader, least = ("load_wine", 0.9) if kind == "Classifier" else ("load_diabetes", 0.4)
    return _SUPERVISED.format(loader=loader, name=name, members=members, arguments=arguments, least=least)
