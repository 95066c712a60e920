"""Examples of public names whose docstrings have none: mostly what a function returns, and variants of one idea."""

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
}

# For those who write losses or tools of their own; the page of each says where it is used.
INTERFACES = {
    "coterie.explain.PartMethod": "Items of `Explanation.methods` of a committee.",
    "coterie.report.profile_of": "`coterie fit` stores its result in model files, for the drift in later reports.",
    "coterie.losses.BoundLoss": "See [how to add a loss](/develop/add-a-loss.md).",
    "coterie.losses.ClassificationLoss": "See [how to add a loss](/develop/add-a-loss.md).",
    "coterie.losses.InitScore": "See [how to add a loss](/develop/add-a-loss.md).",
    "coterie.losses.Loss": "See [how to add a loss](/develop/add-a-loss.md).",
    "coterie.losses.LossFor": "See [how to add a loss](/develop/add-a-loss.md).",
    "coterie.losses.RowLoss": "See [how to add a loss](/develop/add-a-loss.md).",
    "coterie.losses.loss_for_classes": "See [how to add a loss](/develop/add-a-loss.md).",
}
