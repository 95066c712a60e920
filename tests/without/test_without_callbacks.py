"""scikit-learn before 1.9 has no callbacks: everything else works, and nothing claims to support them."""

from tests.helpers.hidden_packages import run_without

# Callbacks are hidden while coterie is imported, and from nobody else: scikit-learn 1.9 needs its own.
PROGRAM = """
    import sys
    import sklearn.ensemble, sklearn.frozen, sklearn.linear_model, sklearn.model_selection, sklearn.pipeline
    import sklearn.preprocessing, sklearn.neighbors, sklearn.neural_network, sklearn.svm

    own = {name: held for name, held in sys.modules.items() if name.split(".")[:2] == ["sklearn", "callback"]}
    sys.modules.update(dict.fromkeys(own))
    import coterie
    import coterie.report
    sys.modules.update(own)

    import numpy as np
    from coterie.fitting.monitor import monitored
    from sklearn.linear_model import LogisticRegression

    X = np.random.default_rng(0).normal(size=(80, 3))
    y = X[:, 0] > 0
    members = [("tree", coterie.DecisionTreeClassifier(max_depth=3)), ("line", LogisticRegression())]
    models = [
        coterie.GradientBoostingClassifier(n_estimators=4),
        coterie.RandomForestClassifier(n_estimators=4),
        coterie.AdaBoostClassifier(n_estimators=4),
        coterie.AnyBoostClassifier(n_estimators=4),
        coterie.BaggingClassifier(n_estimators=4),
        coterie.VotingClassifier(members),
        coterie.StackingClassifier(members, cv=3),
        coterie.CommitteeClassifier(time_limit=None, portfolio=members, cv=2),
    ]
    print(sum(model.fit(X, y).score(X, y) > 0.8 for model in models))
    print(any(hasattr(model, "set_callbacks") for model in models))
    rounds = []
    with monitored(lambda event: rounds.append(event.done)):
        coterie.GradientBoostingClassifier(n_estimators=3).fit(X, y)
    print(rounds)
"""


def test_fits_work_where_scikit_learn_has_no_callbacks() -> None:
    n_good, claimed, rounds = run_without([], PROGRAM).splitlines()

    assert n_good == "8"
    assert claimed == "False"
    assert rounds == "[1, 2, 3]"
