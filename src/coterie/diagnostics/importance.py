"""Which columns does a model depend on? One kind of result, whatever the way of measuring."""

import inspect
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from coterie._params import Integer, OneOf, in_short, resolve_n_jobs, root_seed, spawn_seeds, unexpected
from coterie._typing import AnyArray, FloatArray, SeedLike
from coterie.data.column_from_rows import with_column_from_rows
from coterie.data.parts import chosen_columns, row_indexable, rows_of, table_shape
from coterie.data.weight import read_weight
from coterie.diagnostics.checks import check_choice
from coterie.diagnostics.sklearn_adapters import with_protocols
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.scoring import ScorerName, named_scorer
from coterie.members.fit_members import in_parallel
from coterie.metrics import is_metric_name, shown_metric


def split_counts(model: Any) -> FloatArray:
    """Splits on each column, over all trees of the model or of its members."""
    owner = with_protocols(model)
    if hasattr(owner, "split_counts"):
        return np.asarray(owner.split_counts(), dtype=np.float64)
    if not hasattr(model, "estimators_") or not hasattr(model, "n_features_in_"):
        raise _other_method("split", model, "trees whose splits could be counted")
    columns = getattr(model, "estimators_features_", None)
    total = np.zeros(int(model.n_features_in_))
    for place, member in enumerate(model.estimators_):
        own = slice(None) if columns is None else columns[place]
        for part in member if isinstance(member, list | np.ndarray) else [member]:
            total[own] += split_counts(part)
    return total


_MOST_ESTIMATED = 200  # rows that a committee is explained for
ImportanceMethod: TypeAlias = Literal["permutation", "gain", "split", "oob_permutation", "shap"]
_METHODS: tuple[ImportanceMethod, ...] = get_args(ImportanceMethod)


@dataclass(frozen=True, repr=False, eq=False)
class Importance:
    """What each column is worth.

    Attributes
    ----------
    method : how it was measured
    meaning : what the numbers are, in words
    names : of the columns
    values : array of shape (n_columns,)
    spread : array of shape (n_columns,), how sure these are; None where the method does not know
        The standard deviation over repeats of a permutation; the standard error over trees, or over rows of "shap".
    samples : array of shape (n_columns, n_repeats), the single measurements; None where there are none
    """

    method: str
    meaning: str
    names: tuple[str, ...]
    values: FloatArray
    spread: FloatArray | None = None
    samples: FloatArray | None = None

    @property
    def order(self) -> AnyArray:
        """Places of the columns, the most important first."""
        return np.argsort(-self.values, kind="stable")

    def __repr__(self) -> str:
        width = max(map(len, self.names))
        lines = [f"importance: {self.meaning}"]
        for place in self.order[:15]:
            spread = "" if self.spread is None else f" ± {self.spread[place]:.3g}"
            lines.append(f"  {self.names[place]:<{width}}  {self.values[place]:.4g}{spread}")
        left = len(self.names) - 15
        return "\n".join([*lines, *([f"  … and {left} more"] if left > 0 else [])])


def importance(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    method: ImportanceMethod = "permutation",
    features: Any = None,
    scoring: Any = None,
    n_repeats: int = 5,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: SeedLike = None,
) -> Importance:
    """Measure what each column is worth to a fitted model.

    Parameters
    ----------
    model : a fitted model
    X, y : rows and their targets; "permutation" needs both, "shap" needs X, and the others need neither
        On rows that the model was fitted to, "permutation" also rewards overfitting. Default None: "gain" and "split"
        are read from the trees.
    method : str
        What a column is worth, and the models that it is known of:

        - "permutation": how much the score falls when its values change places; any model
        - "oob_permutation": how much the error out of bag grows when its values change places; coterie's forests
        - "gain": its share in what the splits gained (`feature_importances_`); trees and their ensembles
        - "split": the number of splits on it; trees and their ensembles
        - "shap": the mean size of its contribution to a prediction; models with `explain`

        Contributions of committees are estimated: for 200 rows of X at most, compared with rows of all of X. Default
        "permutation": it works for any model, and measures the score that you care about.

    features : columns by name or place, which alone are measured; None for all. For "permutation".
        Default None: a rank needs all of them.
    scoring : name of a metric, ours or scikit-learn's, function of (model, X, y), or None for the model's own score
        Default None: `score` is what the estimator is usually judged by.
    n_repeats : int, how often values change places
        Default 5: enough to see whether two columns differ by more than chance.
    sample_weight : array of shape (n_rows,), how often each row counts in the score
        Default None: every row counts once.
    n_jobs : int or None, how many columns are measured side by side; the result is the same
        Default None: one after the other, so that threads of the model do not compete.
    random_state : the seed of permutations, and of the rows that a committee is explained for
        Default None: new draws each time, as in scikit-learn; a number makes them repeatable.

    Returns
    -------
    Importance

    Notes
    -----
    Columns that hold the same information share their worth: each may look useless, because the other is still there.

    Examples
    --------
    >>> from coterie import RandomForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = {"much": rng.normal(size=300), "little": rng.normal(size=300), "nothing": rng.normal(size=300)}
    >>> y = 3 * X["much"] + X["little"]
    >>> found = importance(RandomForestRegressor(50, random_state=0).fit(X, y), X, y, random_state=0)
    >>> [found.names[place] for place in found.order]
    ['much', 'little', 'nothing']
    """
    check_choice("method", method, OneOf(*_METHODS))
    check_choice("n_repeats", n_repeats, Integer(1))
    resolve_n_jobs(n_jobs)
    check_is_fitted(model)
    if method == "permutation":
        return _permuted(model, X, y, features, scoring, n_repeats, sample_weight, n_jobs, random_state)
    if features is not None:
        raise InvalidParameter.expecting(
            f"features={in_short(features)}: method={method!r} measures all columns",
            "None",
            "features",
            features,
        )
    if method == "shap":
        return _by_shap(model, X, random_state)
    return _kept(model, method, n_repeats)


def _kept(model: Any, method: str, n_repeats: int) -> Importance:
    """What the model knows of its columns by itself."""
    if method == "oob_permutation":
        if not hasattr(model, "oob_importances"):
            raise _other_method(method, model, "rows out of bag")
        found = model.oob_importances(n_repeats)
        return Importance(
            method,
            "growth of the error out of bag",
            _names(model, len(found.importances_mean)),
            found.importances_mean,
            found.standard_error,
            found.importances,
        )
    if method == "split":
        counts = split_counts(model)
        return Importance(method, "number of splits", _names(model, len(counts)), counts)
    try:
        gains = np.asarray(model.feature_importances_, dtype=np.float64)
    except AttributeError as error:
        raise _other_method(method, model, "feature_importances_") from error
    return Importance(method, "share of the gain of splits", _names(model, len(gains)), gains)


def _other_method(method: str, model: Any, lacks: str) -> InvalidParameter:
    return InvalidParameter(
        f"method={method!r}: {type(model).__name__} has no {lacks}.",
        parameter="method",
        received=method,
        allowed="'permutation'",
        hint="method='permutation' takes any model.",
    )


def _names(model: Any, n_columns: int) -> tuple[str, ...]:
    known = getattr(model, "feature_names_in_", None)
    return tuple(f"x{place}" for place in range(n_columns)) if known is None else tuple(map(str, known))


def _permuted(
    model: Any,
    X: Any,
    y: Any,
    features: Any,
    scoring: Any,
    n_repeats: int,
    sample_weight: Any,
    n_jobs: int | None,
    random_state: SeedLike,
) -> Importance:
    if X is None or y is None:
        raise InvalidParameter(
            "method='permutation' needs X and y: rows, and their targets.",
            parameter="X" if X is None else "y",
            allowed="rows, and their targets",
        )
    shape = table_shape(X)
    if shape.n_columns is None:
        raise InvalidInput(
            "X has no columns whose values could change places.", parameter="X", allowed="a table"
        )
    X = row_indexable(X)
    scorer = check_scoring(model, _known_scorer(model, scoring))
    weight = read_weight(sample_weight, shape.n_rows)
    options = {} if weight is None else {"sample_weight": weight}
    base = float(scorer(model, X, y, **options))
    seeds = spawn_seeds(random_state, shape.n_columns * n_repeats)

    def fall(place: int) -> list[float]:
        own = seeds[place * n_repeats : (place + 1) * n_repeats]
        orders = [np.random.default_rng(int(seed)).permutation(shape.n_rows) for seed in own]
        return [
            base - float(scorer(model, with_column_from_rows(X, place, order), y, **options))
            for order in orders
        ]

    every = tuple(range(shape.n_columns))
    places = every if features is None else chosen_columns(features, X, shape, "features").places
    samples = np.array(in_parallel(fall, [(place,) for place in places], n_jobs=n_jobs))
    names = tuple(f"x{place}" if shape.names is None else shape.names[place] for place in places)
    return Importance(
        "permutation", _about_score(scoring), names, samples.mean(axis=1), samples.std(axis=1), samples
    )


def _known_scorer(model: Any, scoring: Any) -> Any:
    if scoring is not None and not callable(scoring) and not is_metric_name(scoring):
        rule = ScorerName().for_estimator(model)
        raise unexpected("scoring", scoring, f"{rule.describe()} or a function", hint=rule.hint(scoring))
    return named_scorer(scoring, model) if isinstance(scoring, str) else scoring


def _about_score(scoring: Any) -> str:
    if not isinstance(scoring, str):
        return f"fall of the {'score' if scoring is None else in_short(scoring)}"
    metric = shown_metric(scoring)
    name = "mean squared error" if metric.is_root else metric.name
    return f"fall of {name}" if metric.greater_is_better else f"rise of {name}"


def _by_shap(model: Any, X: Any, random_state: SeedLike) -> Importance:
    if not hasattr(model, "explain"):
        raise _other_method("shap", model, "explain")
    if X is None:
        raise InvalidParameter(
            "method='shap' needs X: the rows whose predictions are explained.",
            parameter="X",
            allowed="a table",
        )
    explained, rows = _explained_rows(model, X, random_state)
    sizes = np.abs(explained.values)
    if sizes.ndim == 3:
        sizes = sizes.mean(axis=2)
    return Importance(
        "shap",
        f"mean size of its contribution, in {explained.unit}{rows}",
        explained.column_names,
        sizes.mean(axis=0),
        sizes.std(axis=0) / np.sqrt(len(sizes)),
    )


def _explained_rows(model: Any, X: Any, random_state: SeedLike) -> tuple[Any, str]:
    """The explanation of all rows; of a model whose contributions are estimated of some, against all as background."""
    if "n_permutations" not in inspect.signature(model.explain).parameters:
        return model.explain(X), ""
    X, n_rows = row_indexable(X), table_shape(X).n_rows
    seed = root_seed(random_state)
    if n_rows <= _MOST_ESTIMATED:
        return model.explain(X, background=X, random_state=seed), ""
    some = np.sort(np.random.default_rng(seed).choice(n_rows, _MOST_ESTIMATED, replace=False))
    explained = model.explain(rows_of(X, some), background=X, random_state=seed)
    return explained, f" ({_MOST_ESTIMATED} of {n_rows:,} rows)"
