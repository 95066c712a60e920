"""How wrong will a model be on new rows? Estimates by the bootstrap: leave-one-out, .632 and .632+."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone, is_classifier, is_regressor

from coterie._params import Function, Integer, OneOf, Real, resolve_n_jobs, spawn_seeds, unexpected
from coterie._typing import AnyArray, FloatArray, RowArray, SeedLike, Task
from coterie.data.class_columns import columns_by_class
from coterie.data.parts import row_indexable, rows_of, table_shape
from coterie.data.target import read_target
from coterie.diagnostics.checks import check_choice
from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.fit_members import in_parallel, set_seeds


def fitted_copy(estimator: Any, X: Any, y: AnyArray, seed: int) -> Any:
    """A copy that is fitted; every random_state that is None is given a seed."""
    model = clone(estimator)
    set_seeds(model, seed)
    return model.fit(X, y)


def bootstrap_rows(n_rows: int, seed: int) -> RowArray:
    """As many rows as there are, drawn with replacement."""
    return np.random.default_rng(seed).integers(n_rows, size=n_rows)


def task_of(estimator: Any) -> Task:
    """Whether it predicts classes or numbers."""
    if isinstance(estimator, type) or not (is_classifier(estimator) or is_regressor(estimator)):
        raise unexpected("estimator", estimator, "a classifier or a regressor")
    return "classification" if is_classifier(estimator) else "regression"


def labels_of(X: Any, y: Any, task: Task, name: str) -> AnyArray:
    """The target as one array: labels as they are, or numbers; as long as the table."""
    target = read_target(y, task=task, estimator_name=name, n_rows=table_shape(X).n_rows)
    if task == "regression":
        return np.asarray(target.values, dtype=np.float64)
    return np.asarray(np.asarray(target.classes)[target.values])


_SMALLEST = 1e-15  # of a probability; its logarithm is finite
_PAIRS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class RowLosses:
    """A loss with a name.

    Attributes
    ----------
    name : what it is called
    values : function of targets and predictions that returns a number for each row
    method : what predicts, "predict" or "predict_proba"
    classes : the labels, in the order of probabilities; None for numbers
    """

    name: str
    values: Callable[[AnyArray, AnyArray], FloatArray]
    method: str
    classes: AnyArray | None

    def predictions(self, model: Any, X: Any) -> AnyArray:
        """What a fitted model predicts; a class that it never saw has probability 0."""
        if self.method == "predict":
            return np.asarray(model.predict(X))
        shares = np.asarray(model.predict_proba(X), dtype=np.float64)
        assert self.classes is not None
        return columns_by_class(shares, model.classes_, self.classes)

    def of(self, y: AnyArray, predicted: AnyArray) -> FloatArray:
        """The loss of each row, checked."""
        found = np.asarray(self.values(y, predicted), dtype=np.float64)
        if found.shape != (len(y),) or not np.isfinite(found).all():
            raise InvalidInput.expecting(
                f"loss={self.name} returned an array of shape {found.shape}"
                f"{'' if np.isfinite(found).all() else ' with values that are no finite numbers'}",
                f"a finite number for each of the {len(y)} rows",
                "loss",
                found.shape,
            )
        return found

    def without_information(self, y: AnyArray, predicted: AnyArray) -> float:
        """The mean loss over all pairs of a target and a prediction."""
        step = max(1, _PAIRS_AT_ONCE // len(y))
        total = 0.0
        for first in range(0, len(y), step):
            some = predicted[first : first + step]
            total += float(self.of(np.tile(y, len(some)), np.repeat(some, len(y), axis=0)).sum())
        return total / len(y) ** 2


def losses_for(loss: Any, task: Task, estimator: Any, y: AnyArray, response_method: str) -> RowLosses:
    """The chosen loss, ready for these targets."""
    classes = np.unique(y) if task == "classification" else None
    names = ("zero_one", "log_loss") if task == "classification" else ("squared_error", "absolute_error")
    check_choice("loss", loss, OneOf("auto", *names), Function())
    check_choice("response_method", response_method, OneOf("predict", "predict_proba"))
    name = names[0] if loss == "auto" else loss
    if callable(loss):
        method, name, values = response_method, getattr(loss, "__name__", "the function"), loss
    else:
        method = "predict_proba" if name == "log_loss" else "predict"
        values = _log_loss(classes) if name == "log_loss" else _FORMULAS[name]
    if method == "predict_proba" and not (is_classifier(estimator) and hasattr(estimator, "predict_proba")):
        raise InvalidParameter(
            f"loss={name!r} needs probabilities, and {type(estimator).__name__} has no predict_proba.",
            parameter="loss",
            received=name,
            allowed=repr(names[0]),
            hint=f"Choose {names[0]!r}.",
        )
    return RowLosses(str(name), values, method, classes)


_FORMULAS: dict[str, Callable[[AnyArray, AnyArray], FloatArray]] = {
    "zero_one": lambda y, predicted: (y != predicted).astype(np.float64),
    "squared_error": lambda y, predicted: (y - predicted) ** 2,
    "absolute_error": lambda y, predicted: np.abs(y - predicted),
}


def _log_loss(classes: Any) -> Callable[[AnyArray, AnyArray], FloatArray]:
    def values(y: AnyArray, predicted: AnyArray) -> FloatArray:
        own = predicted[np.arange(len(y)), np.searchsorted(classes, y)]
        return np.asarray(-np.log(np.clip(own, _SMALLEST, None)))

    return values


_OUT = 0.632  # the chance that a row is in a bootstrap, 1 - 1 / e


@dataclass(frozen=True, repr=False, eq=False)
class BootstrapError:
    """Estimates of the error on new rows.

    Attributes
    ----------
    loss : its name
    apparent : the error on the rows that the model was fitted to: too small
    leave_one_out : the mean error of fits on rows that they did not draw: too large, as fits know fewer rows
    error_632 : 0.368 apparent + 0.632 leave_one_out
    error_632_plus : the same with more weight on leave_one_out, the more the model overfits
    no_information : the error if predictions were independent of targets
    overfitting_rate : 0 if leave_one_out is the apparent error, 1 if it is that without information
    standard_errors : dict of the standard errors of leave_one_out, error_632 and error_632_plus
    row_errors : array of shape (n_rows,), mean loss of each row over the fits that did not draw it; NaN if all did
    fit_errors : array of shape (n_fits,), mean loss of each fit on the rows that it did not draw
    """

    loss: str
    apparent: float
    leave_one_out: float
    error_632: float
    error_632_plus: float
    no_information: float
    overfitting_rate: float
    standard_errors: dict[str, float]
    row_errors: FloatArray
    fit_errors: FloatArray

    def interval(self, estimate: str = "error_632_plus", confidence: float = 0.95) -> tuple[float, float]:
        """An estimate plus and minus its standard errors, as a normal variable has it; not below zero."""
        check_choice("estimate", estimate, OneOf(*self.standard_errors))
        check_choice("confidence", confidence, Real(0, 1, closed="neither"))
        middle = getattr(self, estimate)
        reach = float(stats.norm.ppf((1 + confidence) / 2)) * self.standard_errors[estimate]
        return max(0.0, middle - reach), middle + reach

    def __repr__(self) -> str:
        rows = [
            ("apparent", self.apparent, ""),
            *(
                (
                    name.replace("error_632_plus", ".632+").replace("error_632", ".632").replace("_", " "),
                    getattr(self, name),
                    f" ± {error:.4g}",
                )
                for name, error in self.standard_errors.items()
            ),
            ("no information", self.no_information, ""),
        ]
        lines = [
            f"{self.loss.replace('_', ' ')}, {len(self.fit_errors)} fits to {len(self.row_errors):,} rows"
        ]
        return "\n".join([*lines, *(f"  {name:<15} {value:.4g}{error}" for name, value, error in rows)])


def bootstrap(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    loss: Any = "auto",
    n_repeats: int = 100,
    response_method: str = "predict",
    n_jobs: int | None = None,
    random_state: SeedLike = None,
) -> BootstrapError:
    """Estimate the error on new rows by fits to bootstraps, each measured on the rows that it did not draw.

    Parameters
    ----------
    estimator : a classifier or regressor; copies of it are fitted
    X, y : a table and its target
    loss : {"auto", "zero_one", "log_loss", "squared_error", "absolute_error"} or function
        What a row costs. A function of targets and predictions returns a number for each row. "auto" is the share of
        wrong classes, or the squared error. Default "auto": what `score` of most estimators counts.
    n_repeats : int, the number of fits; fifty show where the error is, a few hundred how sure that is
        Default 100: between the two.
    response_method : {"predict", "predict_proba"}, what a function of one's own is given
        Default "predict": every estimator has it.
    n_jobs : int or None, how many fits run side by side; the result is the same
        Default None: one after the other, so that threads of the model do not compete.
    random_state : the seed of draws, and of copies whose own random_state is None
        Default None: new draws each time, as in scikit-learn; a number makes them repeatable.

    Returns
    -------
    BootstrapError

    Notes
    -----
    A bootstrap of classes that holds one class only is drawn again. Standard errors are by the delta method after the
    bootstrap, less the noise of a finite number of fits; that of .632 and .632+ is the one of leave-one-out, times the
    ratio of the two estimates.

    Examples
    --------
    A tree overfits: it makes no error on its own rows.

    >>> from coterie import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> y = X[:, 0] + rng.normal(size=100) > 0
    >>> found = bootstrap(DecisionTreeClassifier(), X, y, n_repeats=50, random_state=0)
    >>> found.apparent, bool(found.error_632 < found.error_632_plus < found.leave_one_out)
    (0.0, True)

    References
    ----------
    Efron and Tibshirani, Improvements on cross-validation: the .632+ bootstrap method (1997).
    """
    task = task_of(estimator)
    check_choice("n_repeats", n_repeats, Integer(2))
    resolve_n_jobs(n_jobs)
    labels = labels_of(X, y, task, "bootstrap")
    losses = losses_for(loss, task, estimator, labels, response_method)
    X = row_indexable(X)
    seeds = [int(seed) for seed in spawn_seeds(random_state, n_repeats + 1)]
    whole = fitted_copy(estimator, X, labels, seeds[0])

    def one(seed: int) -> tuple[RowArray, FloatArray]:
        rows = _drawn(labels, seed, of_classes=task == "classification")
        counts = np.bincount(rows, minlength=len(labels))
        out = np.flatnonzero(counts == 0)
        own = np.full(len(labels), np.nan)
        if len(out):
            model = fitted_copy(estimator, rows_of(X, rows), labels[rows], seed)
            own[out] = losses.of(labels[out], losses.predictions(model, rows_of(X, out)))
        return counts, own

    found = in_parallel(one, [(seed,) for seed in seeds[1:]], n_jobs=n_jobs)
    counts, values = (np.array(part) for part in zip(*found, strict=True))
    if np.isnan(values).all():
        raise InvalidInput(
            f"X has {len(labels)} rows, and each of the {n_repeats} bootstraps drew all of them.",
            parameter="X",
            received=len(labels),
            allowed="more rows, or more repeats",
        )
    return _estimates(losses, labels, losses.predictions(whole, X), counts, values)


def _drawn(labels: AnyArray, seed: int, *, of_classes: bool) -> RowArray:
    """Rows of a bootstrap, of two classes at least if there are two."""
    rng, n_rows = np.random.default_rng(seed), len(labels)
    rows: RowArray = rng.integers(n_rows, size=n_rows)
    while of_classes and (labels[rows] == labels[rows[0]]).all() and (labels != labels[0]).any():
        rows = rng.integers(n_rows, size=n_rows)
    return rows


def _estimates(
    losses: RowLosses, labels: AnyArray, predicted: AnyArray, counts: RowArray, values: FloatArray
) -> BootstrapError:
    """`counts` and `values`: how often each fit drew each row, and the loss of those it did not draw."""
    known = ~np.isnan(values)
    tested = known.any(axis=0)
    rows = np.full(len(labels), np.nan)
    rows[tested] = np.nansum(values[:, tested], axis=0) / known[:, tested].sum(axis=0)
    apparent = float(losses.of(labels, predicted).mean())
    left_out = float(rows[tested].mean())
    nothing = losses.without_information(labels, predicted)
    capped = min(left_out, nothing)
    rate = (capped - apparent) / (nothing - apparent) if apparent < capped and apparent < nothing else 0.0
    plain = (1 - _OUT) * apparent + _OUT * left_out
    plus = plain + (capped - apparent) * (1 - _OUT) * _OUT * rate / (1 - (1 - _OUT) * rate)
    error = _standard_error(counts, np.nan_to_num(values), rows, left_out)
    scale = error / left_out if left_out > 0 else 0.0
    with np.errstate(invalid="ignore"):
        fit_errors = np.nansum(values, axis=1) / known.sum(axis=1)
    return BootstrapError(
        loss=losses.name,
        apparent=apparent,
        leave_one_out=left_out,
        error_632=plain,
        error_632_plus=plus,
        no_information=nothing,
        overfitting_rate=rate,
        standard_errors={
            "leave_one_out": error,
            "error_632": scale * plain,
            "error_632_plus": scale * plus,
        },
        row_errors=rows,
        fit_errors=fit_errors,
    )


def _standard_error(counts: RowArray, values: FloatArray, rows: FloatArray, mean: float) -> float:
    """How much the estimate would change if each row had a little more weight, in square and added up.

    A finite number of fits adds noise of its own to these changes, which is taken off; what is left is at least the
    standard error of a mean of the rows' errors.
    """
    n_fits, n_rows = counts.shape
    if n_rows < 2:
        return 0.0
    own = np.nan_to_num(rows - mean, nan=0.0)
    by_fit = values.sum(axis=1) / n_rows
    moved = (counts - counts.mean(axis=0)) * (by_fit - by_fit.mean())[:, None]
    scale = (1 - 1 / n_rows) ** -n_rows
    change = (2 + 1 / (n_rows - 1)) * own / n_rows + scale * moved.mean(axis=0)
    noise = scale**2 * moved.var(axis=0, ddof=1).sum() / n_fits
    least = (own**2).sum() / n_rows**2
    return float(np.sqrt(max((change**2).sum() - noise, least)))
