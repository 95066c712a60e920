"""Is a model wrong in the same way each time, or in another way each time? Error as bias, variance and noise.

The formulas are functions on arrays of what repeated fits predict. Words
  predictions  of all fits, shape (n_fits, n_rows): numbers, or codes of classes
  truth        what is right on average: numbers, or the probability of each class, shape (n_rows, n_classes)
  main         the prediction that stands for all fits: their mean, or the class that most of them predict
Each function returns parts by row, and `error = bias + variance + noise` holds for each row.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from coterie._params import Function, Integer, OneOf, Real, resolve_n_jobs, spawn_seeds, unexpected
from coterie._typing import AnyArray, FloatArray, RowArray, SeedLike, Task
from coterie.data.parts import row_indexable, rows_of
from coterie.diagnostics.bootstrap import bootstrap_rows, fitted_copy, labels_of, task_of
from coterie.diagnostics.checks import check_choice
from coterie.diagnostics.votes import staged_predictions
from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.fit_members import in_parallel

_Sample = Callable[[int], tuple[Any, AnyArray]]  # from a seed to a table and its target


class Parts(NamedTuple):
    """By row. Variance is what it adds to the error: where most fits are wrong it may take away (`helping`)."""

    error: FloatArray
    bias: FloatArray
    variance: FloatArray
    noise: FloatArray
    helping: FloatArray


def squared_error(predictions: FloatArray, truth: FloatArray, noise: FloatArray) -> Parts:
    """The mean squared distance from new targets, whose variance is `noise`.

    Examples
    --------
    Two fits predict 1 and 3 where 5 is right.

    >>> parts = squared_error(np.array([[1.0], [3.0]]), np.array([5.0]), np.array([0.0]))
    >>> parts.error, parts.bias, parts.variance
    (array([10.]), array([9.]), array([1.]))
    """
    main = predictions.mean(axis=0)
    variance = ((predictions - main) ** 2).mean(axis=0)
    error = ((predictions - truth) ** 2).mean(axis=0) + noise
    return Parts(error, (main - truth) ** 2, variance, noise, np.zeros(len(main)))


def kohavi_wolpert(predictions: AnyArray, truth: FloatArray) -> Parts:
    """The error of classes by Kohavi and Wolpert: half of squared distances of probabilities.

    Examples
    --------
    Of four fits, three predict the right class.

    >>> parts = kohavi_wolpert(np.array([[0], [0], [0], [1]]), np.array([[1.0, 0.0]]))
    >>> parts.error, parts.bias, parts.variance
    (array([0.25]), array([0.0625]), array([0.1875]))
    """
    shares_of_fits = shares_of_classes(predictions, truth.shape[1])
    error = 1 - (shares_of_fits * truth).sum(axis=1)
    bias = ((shares_of_fits - truth) ** 2).sum(axis=1) / 2
    variance, noise = ((1 - (shares**2).sum(axis=1)) / 2 for shares in (shares_of_fits, truth))
    return Parts(error, bias, variance, noise, np.zeros(len(error)))


def domingos(predictions: AnyArray, truth: FloatArray) -> Parts:
    """The error of classes by Domingos: is the class that most fits predict another than the best one?

    Where it is the best one, variance is the share of fits that predict another. Where it is not, fits that predict the
    best class make the error less, and their share is negative variance. Noise is what is left.

    Examples
    --------
    Of four fits, three predict the wrong class of the first row and the right one of the second.

    >>> parts = domingos(np.array([[1, 0], [1, 0], [1, 0], [0, 1]]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    >>> parts.error, parts.bias, parts.variance
    (array([0.75, 0.25]), array([1., 0.]), array([-0.25,  0.25]))
    """
    shares_of_fits = shares_of_classes(predictions, truth.shape[1])
    rows = np.arange(len(shares_of_fits))
    best, main = truth.argmax(axis=1), shares_of_fits.argmax(axis=1)
    bias = (best != main).astype(np.float64)
    helping = bias * shares_of_fits[rows, best]
    hurting = (1 - bias) * (1 - shares_of_fits[rows, main])
    error = 1 - (shares_of_fits * truth).sum(axis=1)
    return Parts(error, bias, hurting - helping, error - (1 - shares_of_fits[rows, best]), helping)


def shares_of_classes(predictions: AnyArray, n_classes: int) -> FloatArray:
    """Which share of the fits predicts each class, shape (n_rows, n_classes)."""
    return np.stack([(predictions == code).mean(axis=0) for code in range(n_classes)], axis=1)


_METHODS = {"regression": ("squared_error",), "classification": ("domingos", "kohavi_wolpert")}


@dataclass(frozen=True, repr=False, eq=False)
class BiasVariance:
    """Error in parts: `error = bias + variance + noise`, after each stage and for each row.

    Attributes
    ----------
    method : "squared_error", "domingos" or "kohavi_wolpert"
    stages : whole numbers of shape (n_stages,): after how many rounds or members
    error, bias, variance, noise : arrays of shape (n_stages,), means over rows
    helping : array of shape (n_stages,)
        Domingos: the part of the variance that makes the error less, because most fits are wrong.
        `variance + helping` is what variance costs where it is right. 0 for other methods.
    rows : Parts, the same by row: arrays of shape (n_stages, n_rows)
    predictions : of all fits, shape (n_fits, n_stages, n_rows): numbers, or codes of `classes`
    truth : what is right: numbers, or probabilities of classes
    classes : the labels, or None
    """

    method: str
    stages: RowArray
    error: FloatArray
    bias: FloatArray
    variance: FloatArray
    noise: FloatArray
    helping: FloatArray
    rows: Parts
    predictions: AnyArray
    truth: FloatArray
    classes: AnyArray | None

    def by(self, method: str) -> "BiasVariance":
        """The same fits in the parts of another method; nothing is fitted again."""
        task = "regression" if self.classes is None else "classification"
        check_choice("method", method, OneOf(*_METHODS[task]))
        parts = _parts_of(method, self.predictions, self.truth, self.rows.noise[0])
        return replace(self, method=method, rows=parts, **_means(parts))

    def __repr__(self) -> str:
        n_fits, n_stages, n_rows = self.predictions.shape
        lines = [
            f"{n_fits} fits, {n_rows:,} rows, {self.method.replace('_', ' ')}",
            f"{'stage':>7}  {'error':>9}  {'bias':>9}  {'variance':>9}  {'noise':>9}",
        ]
        table = zip(self.stages, self.error, self.bias, self.variance, self.noise, strict=True)
        rows = [f"{row[0]:>7}" + "".join(f"  {value:>9.4g}" for value in row[1:]) for row in table]
        dots = ["      …"] if n_stages > 12 else []
        return "\n".join([*lines, *(rows if not dots else [*rows[:5], *dots, *rows[-5:]])])


def bias_variance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    method: str = "auto",
    n_repeats: int = 50,
    test_size: float = 0.3,
    draw: Callable[[int], tuple[Any, Any]] | None = None,
    truth: Any = None,
    noise: Any = None,
    stages: Any = None,
    n_jobs: int | None = None,
    random_state: SeedLike = None,
) -> BiasVariance:
    """Fit an estimator many times, and see which part of its error is the same each time.

    Bias is how far the prediction that stands for all fits is from the truth; variance is how far fits are from that
    prediction; noise is what nobody could know. Bagging makes variance less, boosting bias.

    Parameters
    ----------
    estimator : a classifier or regressor; copies of it are fitted
    X, y : a table and its target
        A part of the rows is set aside, and each fit is to a bootstrap of the others. With `draw` all are set aside.
    method : {"auto", "squared_error", "domingos", "kohavi_wolpert"}
        How the error is taken apart: the squared error of numbers, or the share of wrong classes. "auto" is squared
        error or Domingos. Default "auto": the parts are only defined for the loss of the task.
    n_repeats : int, the number of fits
        Default 50: the standard error of a variance over 50 fits is a fifth of it.
    test_size : float, the share of the rows that is set aside
        Default 0.3: rows enough to average over, while each fit still sees most of the table.
    draw : function of a seed that returns a new table and its target, or None
        Fits are to fresh samples, so that variance is that of the world and not that of a bootstrap. Default None:
        most people have one table, and no source of new ones.
    truth : array or None
        What is right on average for each row of X, if it is known: a number, or the probability of each class (columns
        in the order of sorted labels). Without it the target counts as right, and noise is a part of the bias. Default
        None: it is known only where the data are made.
    noise : number, array or None
        With `truth`, for numbers: the variance of targets around it. None is the mean squared distance of y. Default
        None: with the truth it can be estimated.
    stages : int, list of ints, "all" or None
        After how many rounds or members, for models that have them. None is the whole model. "all" are those that
        every fit has, where some of them stop early. Default None: one measurement, whatever the model; stages
        multiply the cost of prediction.
    n_jobs : int or None, how many fits run side by side; the result is the same
        Default None: one after the other, so that threads of the model do not compete.
    random_state : the seed of draws, and of copies whose own random_state is None
        Default None: new draws each time, as in scikit-learn; a number makes them repeatable.

    Returns
    -------
    BiasVariance

    Examples
    --------
    A straight line misses a wave in the same way each time, a deep tree follows each sample.

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from coterie import DecisionTreeRegressor
    >>> def draw(seed):
    ...     rng = np.random.default_rng(seed)
    ...     X = rng.uniform(-3, 3, size=(80, 1))
    ...     return X, np.sin(X[:, 0]) + rng.normal(scale=0.3, size=80)
    >>> X = np.linspace(-3, 3, 50)[:, None]
    >>> wave = np.sin(X[:, 0])
    >>> for model in (LinearRegression(), DecisionTreeRegressor()):
    ...     parts = bias_variance(model, X, wave, draw=draw, truth=wave, noise=0.09, random_state=0)
    ...     print(parts.bias.round(2), parts.variance.round(2), parts.noise)
    [0.18] [0.01] [0.09]
    [0.] [0.1] [0.09]

    References
    ----------
    Geman, Bienenstock and Doursat (1992); Kohavi and Wolpert (1996); Domingos (2000).
    """
    task = task_of(estimator)
    _check_choices(task, method, n_repeats, test_size, draw, n_jobs)
    labels, X = labels_of(X, y, task, "bias_variance"), row_indexable(X)
    split_seed, *seeds = (int(seed) for seed in spawn_seeds(random_state, n_repeats + 1))
    test, others = _set_aside(len(labels), None if draw is not None else test_size, split_seed)
    sample = _bootstraps(X, labels, others) if draw is None else _fresh_samples(draw, task)
    numbers, predictions = _fits(estimator, sample, rows_of(X, test), stages, seeds, n_jobs)
    known = _known(task, predictions, labels[test], truth, noise, test)
    return _in_parts(_METHODS[task][0] if method == "auto" else method, numbers, known)


def _check_choices(task: str, method: Any, n_repeats: Any, test_size: Any, draw: Any, n_jobs: Any) -> None:
    check_choice("method", method, OneOf("auto", *_METHODS[task]))
    check_choice("n_repeats", n_repeats, Integer(2))
    check_choice("test_size", test_size, Real(0, 1, closed="neither"))
    check_choice("draw", draw, Function(), None)
    resolve_n_jobs(n_jobs)


def _bootstraps(X: Any, labels: AnyArray, others: RowArray) -> _Sample:
    """Tables drawn with replacement from the rows that are not set aside."""

    def sample(seed: int) -> tuple[Any, AnyArray]:
        rows = others[bootstrap_rows(len(others), seed)]
        return rows_of(X, rows), labels[rows]

    return sample


def _fresh_samples(draw: Callable[[int], tuple[Any, Any]], task: Task) -> _Sample:
    """Tables of the user, whose seeds are 32 bits long."""

    def sample(seed: int) -> tuple[Any, AnyArray]:
        table, target = draw(seed >> 32)
        return table, labels_of(table, target, task, "bias_variance")

    return sample


def _fits(
    estimator: Any, sample: _Sample, X: Any, stages: Any, seeds: list[int], n_jobs: int | None
) -> tuple[RowArray, AnyArray]:
    """The numbers of the stages, and what each fit predicts after each: shape (n_fits, n_stages, n_rows)."""

    def one(seed: int) -> tuple[RowArray, list[AnyArray]]:
        return staged_predictions(fitted_copy(estimator, *sample(seed), seed), X, stages)

    found = in_parallel(one, [(seed,) for seed in seeds], n_jobs=n_jobs)
    # With "all", fits that stopped early have fewer stages: those that every fit has are compared.
    shortest = min(len(own) for own, _ in found)
    numbers = np.max([own[:shortest] for own, _ in found], axis=0)
    return numbers, np.array([np.stack(own[:shortest]) for _, own in found])


def _set_aside(n_rows: int, share: float | None, seed: int) -> tuple[RowArray, RowArray]:
    """Rows to test on, and rows to fit to."""
    if share is None:
        return np.arange(n_rows), np.arange(0)
    n_test = max(1, round(share * n_rows))
    if n_rows - n_test < 2:
        raise InvalidInput(
            f"X has {n_rows} rows, and test_size={share:g} leaves fewer than two to learn from.",
            parameter="test_size",
            received=share,
        )
    order = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(order[:n_test]), np.sort(order[n_test:])


@dataclass(frozen=True)
class _Known:
    predictions: AnyArray
    truth: FloatArray
    noise: FloatArray
    classes: AnyArray | None


def _known(
    task: str, predictions: AnyArray, labels: AnyArray, truth: Any, noise: Any, test: RowArray
) -> _Known:
    """What fits predict and what is right, as numbers or as codes and probabilities."""
    given = None if truth is None else _numbers("truth", truth, test)
    if task == "regression":
        if noise is not None and truth is None:
            raise InvalidParameter(
                "noise is known only where truth is.",
                parameter="noise",
                received=noise,
                allowed="None without truth",
                hint="Give truth, the mean of y for each row, too.",
            )
        right = labels if given is None else given.reshape(len(labels), -1)[:, 0]
        if noise is None:
            spread = np.full(len(labels), float(np.mean((labels - right) ** 2)))
        else:
            spread = (
                np.full(len(labels), float(noise)) if np.ndim(noise) == 0 else _numbers("noise", noise, test)
            )
        return _Known(predictions.astype(np.float64), right, spread, None)
    if noise is not None:
        raise InvalidParameter(
            "noise is for numbers; the noise of classes follows from truth.",
            parameter="noise",
            received=noise,
            allowed="None",
        )
    classes = np.unique(np.concatenate([labels, *predictions.reshape(-1, len(labels))]))
    codes = np.searchsorted(classes, predictions)
    if given is None:
        given = np.eye(len(classes))[np.searchsorted(classes, labels)]
    elif given.shape != (len(labels), len(classes)) or not np.allclose(given.sum(axis=1), 1):
        raise InvalidParameter.expecting(
            f"truth has the shape {np.shape(truth)}",
            f"probabilities of {len(classes)} classes for each row",
            "truth",
            np.shape(truth),
        )
    return _Known(codes, given, np.zeros(len(labels)), classes)


def _numbers(name: str, values: Any, test: RowArray) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or len(array) <= test[-1] or not np.isfinite(array).all():
        raise unexpected(name, values, "finite numbers, for each row of X")
    return array[test]


def _parts_of(method: str, predictions: AnyArray, truth: FloatArray, noise: FloatArray) -> Parts:
    """After each stage."""
    if method == "squared_error":
        found = [squared_error(predictions[:, stage], truth, noise) for stage in range(predictions.shape[1])]
    else:
        formula = domingos if method == "domingos" else kohavi_wolpert
        found = [formula(predictions[:, stage], truth) for stage in range(predictions.shape[1])]
    return Parts(*(np.stack(own) for own in zip(*found, strict=True)))


def _in_parts(method: str, stages: RowArray, known: _Known) -> BiasVariance:
    parts = _parts_of(method, known.predictions, known.truth, known.noise)
    return BiasVariance(
        method=method,
        stages=stages,
        rows=parts,
        predictions=known.predictions,
        truth=known.truth,
        classes=known.classes,
        **_means(parts),
    )


def _means(parts: Parts) -> dict[str, Any]:
    return {name: own.mean(axis=1) for name, own in parts._asdict().items()}
