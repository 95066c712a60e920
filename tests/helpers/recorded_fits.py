"""Hashes of many fits, recorded once: a change of the house must not change a bit of a model.

Run as a program, it writes the hashes of today's fits. That is right only after a change that is meant to change
models, and the changelog says so:

    python -m tests.helpers.recorded_fits

A hash is of the trees (or of the fitted members) and of every prediction that a model can make of a table with missing
values, categories and weights. Hashes that also hold where numpy and BLAS compute with other instructions are listed as
`anywhere`; the others depend on the last bits of a dot product or an exponential.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy
import sklearn
import threadpoolctl
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import coterie
from coterie.losses import CustomLoss, Expectile, Huber, Quantile, Tweedie
from tests.helpers.estimators import state_of

RECORDED = Path(__file__).with_name("recorded_fits.json")
N_ROWS = 240


def versions() -> dict[str, str]:
    """The packages whose functions a model may call."""
    return {module.__name__: module.__version__ for module in (np, scipy, sklearn)}


def vectors() -> list[str]:
    """The optional instructions that numpy has found."""
    return list(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))


def processor() -> dict[str, str]:
    """What the last bits of numpy's functions and of BLAS depend on."""
    blas = {str(pool.get("architecture")) for pool in threadpoolctl.threadpool_info()}
    return {"vectors": " ".join(vectors()), "blas": " ".join(sorted(blas))}


def numbers(n_columns: int = 5, seed: int = 0) -> tuple[Any, Any, Any]:
    """A matrix without gaps, a number and three classes of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, n_columns))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=N_ROWS)
    return X, y, np.array(["blue", "green", "red"])[np.digitize(y, [-0.3, 0.8])]


def mixed(seed: int = 1) -> tuple[pd.DataFrame, Any, Any]:
    """A frame with gaps, categories of few and of many levels, and a column in whole numbers."""
    rng = np.random.default_rng(seed)
    X, y, _ = numbers(3, seed)
    few, many = rng.integers(0, 4, N_ROWS), rng.integers(0, 30, N_ROWS)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.loc[::7, "b"] = np.nan
    frame["few"] = pd.Categorical([f"f{code}" for code in few])
    frame["many"] = pd.Categorical([f"m{code}" for code in many])
    frame["count"] = rng.integers(0, 9, N_ROWS)
    y = y + 0.4 * (few == 2) + 0.05 * many
    return frame, y, np.array(["blue", "green", "red"])[np.digitize(y, [0.6, 1.7])]


def two(labels: Any) -> Any:
    return np.where(labels == "red", "yes", "no")


WEIGHT = np.random.default_rng(5).integers(0, 4, N_ROWS).astype(float)

METHODS = (
    "score_samples",
    "predict",
    "predict_proba",
    "decision_function",
    "staged_predict",
    "staged_predict_proba",
    "transform",
    "apply",
)


def our_trees(model: Any) -> list[Any]:
    """The engine's trees and stumps inside a model; members of scikit-learn show in predictions only."""
    if hasattr(model, "forest_"):
        return [model.forest_.tree(i) for i in range(len(model.forest_))]
    if hasattr(model, "tree_"):
        return [model.tree_.native] if hasattr(model.tree_, "native") else []
    if hasattr(model, "right_codes"):
        return [model]
    members = list(np.asarray(getattr(model, "estimators_", []), dtype=object).ravel())
    members = [each for member in members for each in getattr(member, "models", [member])]
    return [tree for member in members for tree in our_trees(member)]


def digest_of_model(model: Any, X: Any) -> str:
    """The trees or members, and what the model predicts."""
    digest = hashlib.sha256()
    for tree in our_trees(model):
        for name, held in sorted(state_of(tree).items()):
            digest.update(name.encode() + (b"" if held is None else np.asarray(held).tobytes()))
    for method in METHODS:
        if not hasattr(model, method):
            continue
        try:
            predicted = getattr(model, method)(X)
        except coterie.errors.CoterieError as error:  # no stages of a model with dropout
            digest.update(type(error).__name__.encode())
            continue
        parts = list(predicted) if method.startswith("staged") or isinstance(predicted, list) else [predicted]
        for part in parts:
            values = part.toarray() if hasattr(part, "toarray") else np.asarray(part)
            text = values.dtype.kind in "OU"
            digest.update("\n".join(map(str, values.ravel())).encode() if text else values.tobytes())
    # Importances of committees came after their fits were recorded.
    importances = () if hasattr(model, "leaderboard") else ("feature_importances_",)
    for name in (*importances, "validation_losses_", "oob_score_", "oof_score_", "weights_"):
        held = getattr(model, name, None)
        if held is not None:
            digest.update(np.asarray(held, dtype=np.float64).tobytes())
    return digest.hexdigest()


Case = Callable[[], str]
CASES: dict[str, Case] = {}


def case(
    name: str, make: Callable[[], Any], table: str = "mixed", target: str = "number", **fit: Any
) -> None:
    """One fit: what is fitted, to which table and target, with which arguments of `fit`."""

    def run() -> str:
        X, y, labels = mixed() if table == "mixed" else numbers()
        targets = {
            "number": y,
            "positive": np.exp(y / 4),
            "count": np.floor(np.exp(y / 2)),
            "share": 1 / (1 + np.exp(-y)),
            "several": np.column_stack([y, -2 * y + X.iloc[:, 0] if table == "mixed" else y**2]),
            "classes": labels,
            "two": two(labels),
        }
        given = {key: value() if callable(value) else value for key, value in fit.items()}
        return digest_of_model(make().fit(X, targets[target], **given), X)

    assert name not in CASES, name
    CASES[name] = run


def boosted(target: str, **settings: Any) -> Callable[[], Any]:
    chosen = (
        coterie.GradientBoostingClassifier
        if target in ("classes", "two")
        else coterie.GradientBoostingRegressor
    )
    return lambda: chosen(**{"n_estimators": 6, "random_state": 0, "n_jobs": 2} | settings)


def forest(name: str, **settings: Any) -> Callable[[], Any]:
    return lambda: getattr(coterie, name)(**{"n_estimators": 7, "random_state": 0, "n_jobs": 2} | settings)


def _boosting_cases() -> None:
    for target in ("number", "two", "classes"):
        case(f"boosting {target}", boosted(target), target=target)
        case(f"boosting {target} recipe", boosted(target, n_estimators="auto"), target=target)
        case(f"boosting {target} weighted", boosted(target), target=target, sample_weight=WEIGHT)
    alone = boosted("classes", n_estimators="auto", multi_strategy="one_tree_per_class")
    case("boosting classes recipe, one tree per class", alone, target="classes")
    case("boosting shared trees", boosted("classes", multi_strategy="shared_trees"), target="classes")
    options: dict[str, dict[str, Any]] = {
        "level": {"growth": "level", "leaf_penalty": 0.1, "split_noise": 1.0},
        "oblivious": {"growth": "oblivious", "max_depth": 3},
        "lines": {"linear_leaves": True},
        "mixed": {"growth": "mixed", "n_folds": 4, "early_stopping": True},
        "refit": {"early_stopping": True, "refit": True, "n_folds": 2},
        "smoothed": {"path_smoothing": 3.0, "l1_regularization": 0.5, "max_step": 0.5},
        "uniform": {"subsample": 0.6, "sampling_method": "uniform"},
        "gradient based": {"subsample": 0.6, "sampling_method": "gradient_based"},
        "bayesian": {"sampling_method": "bayesian"},
        "dropout": {"dropout_rate": 0.5, "dropout_skip": 0.0},
        "statistics": {"target_statistics": "pairs"},
        "constraints": {"monotonic_cst": {"a": 1, "b": -1}, "interaction_cst": [{0, 1}, {2, 3}]},
        "last rows": {"early_stopping": True, "holdout": "last_rows", "validation_fraction": 0.2},
    }
    for name, settings in options.items():
        case(f"boosting {name}", boosted("number", **settings))
    case("boosting several targets", boosted("several"), target="several")
    case("boosting scoring", boosted("two", early_stopping=True, scoring="roc_auc"), target="two")
    case("boosting exponential", boosted("two", loss="exponential"), target="two")
    case("boosting init", boosted("number", init=LinearRegression()), table="numbers")
    case("boosting balanced", boosted("classes", class_weight="balanced"), target="classes")
    case(
        "boosting eval set and offset",
        boosted("number", n_estimators=12),
        eval_set=lambda: (mixed(3)[0], mixed(3)[1], None, np.full(N_ROWS, 0.5)),
        offset=np.linspace(-1, 1, N_ROWS),
    )
    losses: dict[str, tuple[Any, str]] = {
        "absolute_error": ("absolute_error", "number"),
        "huber": (Huber(), "number"),
        "quantile": (Quantile(0.8), "number"),
        "quantiles": (Quantile((0.1, 0.5, 0.9)), "number"),
        "expectile": (Expectile(0.7), "number"),
        "poisson": ("poisson", "count"),
        "gamma": ("gamma", "positive"),
        "tweedie": (Tweedie(1.3), "count"),
        "cross_entropy": ("cross_entropy", "share"),
        "custom": (CustomLoss(_log_cosh, _log_cosh_slope), "number"),
    }
    for name, (loss, target) in losses.items():
        case(f"loss {name}", boosted(target, loss=loss), target=target)
        learner = DecisionTreeRegressor(max_depth=2, random_state=0)
        case(
            f"anyboost {name}",
            lambda loss=loss, learner=learner: coterie.AnyBoostRegressor(
                learner, loss=loss, n_estimators=4, random_state=0
            ),
            table="numbers",
            target=target,
        )


def _log_cosh(y: Any, score: Any) -> Any:
    return np.logaddexp(score - y, y - score)


def _log_cosh_slope(y: Any, score: Any) -> Any:
    return np.tanh(score - y)


def _forest_cases() -> None:
    for kind in ("RandomForest", "ExtraTrees"):
        case(f"{kind} classes", forest(f"{kind}Classifier"), target="classes")
        case(f"{kind} numbers", forest(f"{kind}Regressor"))
        case(f"{kind} several", forest(f"{kind}Regressor"), target="several")
        case(
            f"{kind} weighted",
            forest(f"{kind}Classifier", class_weight="balanced"),
            target="classes",
            sample_weight=WEIGHT,
        )
    options: dict[str, dict[str, Any]] = {
        "drawn": {"bootstrap": False, "max_samples": 0.3},
        "partition": {"bootstrap": "partition", "max_samples": 0.2, "features_per": "tree"},
        "few leaves": {"max_leaf_nodes": 6, "keep_rows": False, "oob_score": True, "n_estimators": 30},
        "pruned": {"prune": "oob", "ccp_alpha": 1e-4},
        "monotone": {"monotonic_cst": {"a": 1}},
    }
    for name, settings in options.items():
        case(f"forest {name}", forest("RandomForestRegressor", **settings))
    case(
        "forest balanced bags",
        forest("RandomForestClassifier", bootstrap="balanced", class_weight="balanced_subsample"),
        target="two",
    )
    case("isolation", forest("IsolationForest", contamination=0.1))
    case("isolation weighted", forest("IsolationForest", max_features=0.5), sample_weight=WEIGHT)
    case("embedding", forest("RandomTreesEmbedding"))
    case("embedding few leaves", forest("RandomTreesEmbedding", max_leaf_nodes=6), sample_weight=WEIGHT)
    case("tree classes", lambda: coterie.DecisionTreeClassifier(max_depth=4), target="classes")
    case("tree numbers", lambda: coterie.DecisionTreeRegressor(max_leaf_nodes=9, ccp_alpha=1e-3))


def _adaboost_cases() -> None:
    ada: dict[str, dict[str, Any]] = {
        "stumps": {},
        "corrective": {"corrective": "exponential"},
        "slow": {"learning_rate": 0.5},
    }
    for name, settings in ada.items():
        case(
            f"adaboost {name}",
            lambda settings=settings: coterie.AdaBoostClassifier(n_estimators=6, random_state=0, **settings),
            target="two",
        )
    case(
        "adaboost classes",
        lambda: coterie.AdaBoostClassifier(n_estimators=6, random_state=0),
        target="classes",
    )
    case(
        "adaboost learner",
        lambda: coterie.AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=5, random_state=0
        ),
        table="numbers",
        target="classes",
        sample_weight=WEIGHT,
    )
    case(
        "adaboost naive bayes",
        lambda: coterie.AdaBoostClassifier(GaussianNB(), n_estimators=4, random_state=0),
        table="numbers",
        target="two",
    )
    case(
        "adaboost numbers",
        lambda: coterie.AdaBoostRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=5, random_state=0),
        table="numbers",
    )
    for target, loss in (("two", "log_loss"), ("two", "exponential"), ("classes", "log_loss")):
        case(
            f"anyboost {target} {loss}",
            lambda loss=loss: coterie.AnyBoostClassifier(
                DecisionTreeRegressor(max_depth=2, random_state=0), loss=loss, n_estimators=4, random_state=0
            ),
            table="numbers",
            target=target,
        )


def _member_cases() -> None:
    trees = {"tree": coterie.DecisionTreeClassifier(max_depth=4), "bayes": GaussianNB()}
    named = [*trees.items(), ("logistic", LogisticRegression())]
    of_numbers = [
        ("tree", coterie.DecisionTreeRegressor(max_depth=4)),
        ("line", LinearRegression()),
        ("near", KNeighborsRegressor(3)),
    ]
    for voting in ("hard", "soft", "rank"):
        case(
            f"voting {voting}",
            lambda voting=voting: coterie.VotingClassifier(named, voting=voting),
            table="numbers",
            target="classes",
        )
    for voting in ("mean", "median"):
        case(
            f"voting {voting}",
            lambda voting=voting: coterie.VotingRegressor(of_numbers, voting=voting),
            "numbers",
        )
    for kind in ("Stacking", "Blending", "Selection"):
        seed = {} if kind == "Stacking" else {"random_state": 0}
        case(
            f"{kind} classes",
            lambda kind=kind, seed=seed: getattr(coterie, f"{kind}Classifier")(named, **seed),
            table="numbers",
            target="classes",
        )
        case(
            f"{kind} numbers",
            lambda kind=kind, seed=seed: getattr(coterie, f"{kind}Regressor")(of_numbers, **seed),
            table="numbers",
        )
    for name, learner in trees.items():
        case(
            f"bagging {name}",
            lambda learner=learner: coterie.BaggingClassifier(
                learner, n_estimators=30, max_features=0.8, oob_score=True, random_state=0
            ),
            table="numbers",
            target="classes",
        )
    case(
        "bagging numbers",
        lambda: coterie.BaggingRegressor(LinearRegression(), n_estimators=5, max_samples=0.5, random_state=0),
        table="numbers",
        sample_weight=WEIGHT,
    )
    case(
        "output code",
        lambda: coterie.OutputCodeClassifier(LogisticRegression(), random_state=0),
        table="numbers",
        target="classes",
    )
    committee = {"time_limit": None, "cv": 3, "random_state": 0, "n_jobs": 1}
    case(
        "committee classes",
        lambda: coterie.CommitteeClassifier(portfolio=named, **committee),
        table="numbers",
        target="classes",
    )
    case(
        "committee numbers", lambda: coterie.CommitteeRegressor(portfolio=of_numbers, **committee), "numbers"
    )


def _warm(name: str, make: Callable[[], Any], table: str, target: str) -> None:
    """Two fits, the second of which goes on from the first."""

    def run() -> str:
        X, y, labels = mixed() if table == "mixed" else numbers()
        chosen = {"number": y, "classes": labels, "two": two(labels)}[target]
        model = make().set_params(warm_start=True).fit(X, chosen)
        return digest_of_model(model.set_params(n_estimators=11).fit(X, chosen), X)

    CASES[f"warm {name}"] = run


def _resumed(name: str, make: Callable[[], Any], table: str, target: str) -> None:
    """A fit that is interrupted after a few rounds, and resumed from its checkpoint."""

    def run() -> str:
        X, y, labels = mixed() if table == "mixed" else numbers()
        chosen = {"number": y, "classes": labels, "two": two(labels)}[target]
        with tempfile.TemporaryDirectory() as folder:
            model = make().set_params(n_estimators=25, checkpoint=coterie.Checkpoint(folder, every=2))
            model.fit(X, chosen)
            parts = sorted(Path(folder).glob("*.part"))
            assert len(parts) > 2
            parts[-1].unlink()  # of a forest the states of the last two parts are there
            return digest_of_model(model.fit(X, chosen, resume=True), X)

    CASES[f"resumed {name}"] = run


def _continued_cases() -> None:
    learner = coterie.DecisionTreeClassifier(max_depth=2)
    line = LinearRegression()
    kinds: dict[str, tuple[Callable[[], Any], str, str]] = {
        "boosting": (boosted("classes"), "mixed", "classes"),
        "boosting of folds": (boosted("number", n_folds=3), "mixed", "number"),
        "forest": (forest("RandomForestClassifier"), "mixed", "classes"),
        "extra trees": (forest("ExtraTreesRegressor"), "mixed", "number"),
        "adaboost": (
            lambda: coterie.AdaBoostClassifier(learner, n_estimators=5, random_state=0),
            "numbers",
            "two",
        ),
        "anyboost": (
            lambda: coterie.AnyBoostRegressor(n_estimators=5, random_state=0),
            "numbers",
            "number",
        ),
        "bagging": (
            lambda: coterie.BaggingRegressor(line, n_estimators=5, random_state=0),
            "numbers",
            "number",
        ),
    }
    for name, (make, table, target) in kinds.items():
        _warm(name, make, table, target)
        _resumed(name, make, table, target)


_boosting_cases()
_forest_cases()
_adaboost_cases()
_member_cases()
_continued_cases()


OTHER_PROCESSORS = {
    "an old one": {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": " ".join(vectors())},
    "one without AVX-512": {"OPENBLAS_CORETYPE": "Haswell"},
    "one with AVX-512": {"OPENBLAS_CORETYPE": "SkylakeX"},
}


def hashes_on(processor: dict[str, str]) -> dict[str, str]:
    """The hashes that fits have when numpy and BLAS use the instructions of another processor."""
    program = "import json; from tests.helpers.recorded_fits import CASES; "
    program += "print(json.dumps({name: run() for name, run in CASES.items()}))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, **processor},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    hashes = {name: run() for name, run in CASES.items()}
    others = [hashes_on(processor) for processor in OTHER_PROCESSORS.values()]
    recorded = {
        "versions": versions(),
        "processor": processor(),
        "anywhere": [name for name in CASES if all(hashes[name] == other[name] for other in others)],
        "hashes": hashes,
    }
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
