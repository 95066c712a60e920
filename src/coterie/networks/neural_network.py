"""Neural networks for classes and for numbers: several of them, each of which leaves a part of the rows out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from coterie._documentation import documented
from coterie._params import ArrayLike, Boolean, Integer, MappingLike, OneOf, Params, Real, Seed, spawn_seeds
from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import (
    AnyArray,
    Auto,
    CategoricalFeatures,
    ClassWeight,
    FloatArray,
    RowArray,
    SeedLike,
    UnknownCategory,
)
from coterie._value_types import COUNT, FLOAT_VECTOR, FLOATS, NUMBER, TEXT, instance, list_of
from coterie.data.encoding import take_rows
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.data.streaming.prediction import by_batches
from coterie.fitting.estimator import Estimator, FitRun
from coterie.fitting.fitted_state import CLASSES_FITTED, TABLE_FITTED, require, verify_columns
from coterie.networks._parameter_docs import network_texts
from coterie.networks.activations import ACTIVATIONS
from coterie.networks.blas_threads import one_blas_thread
from coterie.networks.inputs import NetworkInputs, distinct_rows, learn_inputs
from coterie.networks.losses import NetworkLoss, log_loss, softmax, squared_error
from coterie.networks.network import Network, NetworkFunction, NetworkLayout
from coterie.networks.training import NetworkRows, TrainedNetworks, TrainingOptions, train_networks

_MOST_EPOCHS, _FEWEST_EPOCHS = 256, 16
_MOST_STEPS = 8_000  # of all epochs together, if their number is left to us
_N_PARTS = 5  # of which a network leaves out one; more if there are more networks
_FEWEST_OF_PART = 2  # rows; fewer rows than that in each part, and none are left out
_FITTED: Fitted = {
    **TABLE_FITTED,
    "estimators_": list_of(instance(Network)),
    "inputs_": instance(NetworkInputs),
    "n_estimators_": COUNT,
    "n_epochs_": COUNT,
    "best_epoch_": COUNT,
    "validation_losses_": FLOAT_VECTOR,
    "stopped_because_": TEXT,
}


def _verify(model: Any) -> None:
    verify_columns(model)
    if "estimators_" not in vars(model):
        return
    require(model, "inputs_", "n_features_in_", "encoder_", "n_estimators_")
    inputs, n_levels = model.inputs_, model.encoder_.n_levels
    expect(inputs.n_features == model.n_features_in_, "reads other columns than its own")
    known = np.zeros(inputs.n_features, dtype=np.int64)
    known[inputs.flagged], known[inputs.coded] = inputs.n_flagged, inputs.n_coded
    expect(np.array_equal(known, n_levels), "reads other levels than those of its encoder")
    n_outputs = len(model.classes_) if "classes_" in vars(model) else 1
    expect(len(model.estimators_) > 0, "has no networks")
    for network in model.estimators_:
        layout = network.layout
        sizes = (layout.n_numbers, layout.n_flags, layout.n_coded, layout.n_levels, layout.n_outputs)
        read = (len(inputs.numeric), inputs.n_flags, len(inputs.coded), inputs.n_levels, n_outputs)
        expect(sizes == read, "has a network of other inputs or outputs than its own")


class HiddenSizes:
    """What `hidden_sizes` may be."""

    def accepts(self, value: object) -> bool:
        if not isinstance(value, list | tuple | np.ndarray) or len(value) == 0:
            return False
        return all(map(Integer(1).accepts, value))

    def describe(self) -> str:
        return "a non-empty list of whole numbers >= 1"


@dataclass(frozen=True)
class _Prepared:
    """What networks are trained on: rows without repetition, and where each row of the table is among them.

    `place_of_row` is -1 for rows without weight.
    """

    inputs: NetworkInputs
    rows: NetworkRows
    place_of_row: RowArray
    strata: RowArray | None


class BaseNeuralNetwork(Estimator):
    """The path of a fit, and the outputs of the networks for new rows."""

    PARAMS: ClassVar[Params] = {
        "n_estimators": [Integer(1)],
        "hidden_sizes": [HiddenSizes()],
        "activation": [OneOf(*ACTIVATIONS)],
        "max_epochs": [OneOf("auto"), Integer(1)],
        "batch_size": [Integer(1)],
        "learning_rate": [Real(0, None, closed="neither")],
        "dropout": [Real(0, 1, closed="left")],
        "weight_decay": [Real(0, None)],
        "early_stopping": [Boolean()],
        "categorical_features": [OneOf("auto"), ArrayLike(), None],
        "unknown_category": [OneOf("missing", "error")],
        "random_state": [Seed()],
        "n_jobs": [Integer(), None],
    }
    _takes_any_table = True

    # What those of classes and those of numbers each define.
    _task: ClassVar[Literal["classification", "regression"]]
    _targets: Callable[[TrainingData, RowArray, FloatArray], tuple[AnyArray, AnyArray]]
    _loss: Callable[[], NetworkLoss]
    _set_held_out: Callable[[FloatArray], None]

    estimators_: list[Network]
    inputs_: NetworkInputs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the networks.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or dict of columns
        y : labels of any type, or numbers, of shape (n_rows,)
        sample_weight : array of shape (n_rows,), default=None
            How often each row counts; rows of weight 0 are left out.
        """
        with self._fitting(X, y) as run, one_blas_thread():
            train = prepare_training(self, X, y, sample_weight, task=self._task)
            data, baseline = self._prepare(train)
            layout = self._layout(data)
            options = self._options(len(data.rows.target))
            run.begin_steps(options.n_epochs)
            seeds = spawn_seeds(run.seed, int(self.n_estimators) + 1)
            parts = _parts(len(data.rows.target), data.strata, int(self.n_estimators), int(seeds[0]))
            trained = train_networks(
                NetworkFunction(layout),
                data.rows,
                parts,
                baseline,
                self._loss(),
                [int(seed) for seed in seeds[1:]],
                options,
                n_threads=run.n_threads,
                after_epoch=lambda done, loss: _emit(run, done, loss),
            )
            self._conclude(data, layout, trained)
        return self

    def _prepare(self, train: TrainingData) -> tuple[_Prepared, AnyArray]:
        """Rows that stand in the table twice become one of twice the weight; the outputs that training begins with."""
        encoded, target = train.encoded, train.target.values
        weight = np.ones(len(target)) if train.weight is None else np.asarray(train.weight, dtype=np.float64)
        counted = np.flatnonzero(weight > 0)
        if len(counted) < len(weight):
            encoded = take_rows(encoded, counted)
        firsts, places = distinct_rows(encoded, target[counted])
        summed = np.bincount(places, weight[counted], len(firsts)).astype(np.float64)
        encoded = take_rows(encoded, firsts)
        inputs = learn_inputs(encoded, summed)
        summed /= summed.mean()
        targets, baseline = self._targets(train, counted[firsts], summed)
        rows = NetworkRows(inputs.rows(encoded), targets.astype(np.float32), summed.astype(np.float32))
        place_of_row = np.full(len(weight), -1, dtype=np.int64)
        place_of_row[counted] = places
        strata = target[counted[firsts]] if self._task == "classification" else None
        return _Prepared(inputs, rows, place_of_row, strata), baseline

    def _layout(self, data: _Prepared) -> NetworkLayout:
        inputs = data.inputs
        return NetworkLayout(
            len(inputs.numeric),
            inputs.n_flags,
            len(inputs.coded),
            inputs.n_levels,
            np.asarray(self.hidden_sizes, dtype=np.int64),
            int(data.rows.target.shape[1]),
            self.activation,
        )

    def _options(self, n_rows: int) -> TrainingOptions:
        return TrainingOptions(
            n_epochs=automatic_epochs(n_rows, int(self.batch_size))
            if self.max_epochs == "auto"
            else int(self.max_epochs),
            batch_size=int(self.batch_size),
            rate=float(self.learning_rate),
            dropout=float(self.dropout),
            weight_decay=float(self.weight_decay),
            stops_early=bool(self.early_stopping),
        )

    def _conclude(self, data: _Prepared, layout: NetworkLayout, trained: TrainedNetworks) -> None:
        self.inputs_ = data.inputs
        self.estimators_ = [
            Network(layout, {name: own.copy() for name, own in layout.views(flat).items()})
            for flat in trained.parameters
        ]
        self.n_estimators_ = len(self.estimators_)
        self.n_epochs_, self.best_epoch_ = trained.n_epochs, trained.best_epoch
        self.validation_losses_ = np.array(trained.losses, dtype=np.float64)
        self.stopped_because_ = trained.stopped_because
        outputs = np.asarray(trained.held_out, dtype=np.float64)[data.place_of_row]
        outputs[data.place_of_row < 0] = np.nan
        self._set_held_out(outputs)

    def _outputs(self, X: Any) -> list[FloatArray]:
        """The outputs of each network, shape (n_rows, n_outputs)."""
        check_is_fitted(self, "estimators_")
        rows = self.inputs_.rows(prepare_prediction(self, X), np.float64)
        with one_blas_thread():
            return [network.outputs(rows) for network in self.estimators_]


def _emit(run: FitRun, done: int, loss: float | None) -> bool:
    return run.emit("round", done, measures={} if loss is None else {"validation loss": loss})


def automatic_epochs(n_rows: int, batch_size: int) -> int:
    """Epochs of a table of so many rows: at most 256, and 8,000 batches in all, but sixteen at least.

    Examples
    --------
    >>> automatic_epochs(1_000, 256), automatic_epochs(20_000, 256), automatic_epochs(10**6, 256)
    (256, 102, 16)
    """
    n_batches = max(1, round(n_rows / batch_size))
    return int(np.clip(_MOST_STEPS // n_batches, _FEWEST_EPOCHS, _MOST_EPOCHS))


def _parts(
    n_rows: int, strata: RowArray | None, n_networks: int, seed: int
) -> list[tuple[RowArray, RowArray]]:
    """Rows to learn from and rows left out, for each network; classes are spread evenly."""
    n_parts = max(_N_PARTS, n_networks)
    every = np.arange(n_rows)
    if n_rows < n_parts * _FEWEST_OF_PART:
        return [(every, every[:0])] * n_networks
    order = np.random.default_rng(seed).permutation(n_rows)
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    part = np.empty(n_rows, dtype=np.int64)
    part[order] = every % n_parts
    return [(np.flatnonzero(part != own), np.flatnonzero(part == own)) for own in range(n_networks)]


@storable_estimator(verify=_verify)
@documented(network_texts)
class NeuralNetworkClassifier(ClassifierMixin, BaseNeuralNetwork):
    """Neural networks for classes.

    Several networks of three hidden layers, each of which leaves a part of the rows out; all of them stop at the epoch
    at which the rows left out were predicted best, and their probabilities are averaged. Numbers are centred at
    their median, scaled by their quartiles, and seen through learned waves; levels are columns of 0 and 1, or learned
    vectors if there are many. Rows that stand in the table twice are one row of twice the weight.

    Everything is numpy with BLAS: nothing else has to be installed. Predictions are the same for any number of threads.

    Examples
    --------
    >>> from coterie import NeuralNetworkClassifier
    >>> from coterie.datasets import load_table
    >>> X, y = load_table("wine")
    >>> model = NeuralNetworkClassifier(max_epochs=20, hidden_sizes=(32, 32), random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.97, model.oof_proba_.shape
    (True, (178, 3))

    References
    ----------
    Holzmueller, Grinsztajn and Steinwart, Better by default: strong pre-tuned MLPs and boosted trees on tabular data
    (2024), whose settings these are; Gorishniy, Rubachev and Babenko, On embeddings for numerical features (2022).
    """

    PARAMS: ClassVar[Params] = {
        **BaseNeuralNetwork.PARAMS,
        "label_smoothing": [Real(0, 1, closed="left")],
        "class_weight": [OneOf("balanced"), MappingLike(), None],
    }
    FITTED: ClassVar[Fitted] = {**_FITTED, **CLASSES_FITTED, "oof_proba_": FLOATS}
    _task = "classification"

    classes_: AnyArray

    def __init__(
        self,
        n_estimators: int = 5,
        *,
        hidden_sizes: Sequence[int] = (256, 256, 256),
        activation: Literal["selu", "mish"] = "selu",
        max_epochs: int | Auto = "auto",
        batch_size: int = 256,
        learning_rate: float = 0.04,
        dropout: float = 0.15,
        weight_decay: float = 0.02,
        label_smoothing: float = 0.1,
        early_stopping: bool = True,
        class_weight: ClassWeight = None,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
        random_state: SeedLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self._store(locals())

    @by_batches
    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; the first one on a tie."""
        codes = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @by_batches
    def predict_proba(self, X: Any) -> FloatArray:
        """The mean of the networks' probabilities, shape (n_rows, n_classes)."""
        proba = [softmax(outputs) for outputs in self._outputs(X)]
        return np.asarray(sum(proba) / len(proba))

    def _targets(self, train: TrainingData, rows: RowArray, weight: FloatArray) -> tuple[AnyArray, AnyArray]:
        assert isinstance(train.target.classes, np.ndarray)
        self.classes_ = train.target.classes
        self.n_classes_ = len(self.classes_)
        codes = train.target.values[rows]
        shares = (np.bincount(codes, weight, self.n_classes_) + 1e-3) / (
            weight.sum() + 1e-3 * self.n_classes_
        )
        return np.eye(self.n_classes_)[codes], np.log(shares)

    def _loss(self) -> NetworkLoss:
        return log_loss(float(self.label_smoothing))

    def _set_held_out(self, outputs: FloatArray) -> None:
        self.oof_proba_ = softmax(outputs)


@storable_estimator(verify=_verify)
@documented(network_texts)
class NeuralNetworkRegressor(RegressorMixin, BaseNeuralNetwork):
    """Neural networks for numbers.

    Several networks of three hidden layers, each of which leaves a part of the rows out; all of them stop at the epoch
    at which the rows left out were predicted best, and the prediction is their mean, within the range of the target.
    Numbers are centred at their median, scaled by their quartiles, and seen through learned waves; levels are
    columns of 0 and 1, or learned vectors if there are many. Rows that stand in the table twice are one row of twice
    the weight.

    Everything is numpy with BLAS: nothing else has to be installed. Predictions are the same for any number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import NeuralNetworkRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(400, 2))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 1]
    >>> model = NeuralNetworkRegressor(max_epochs=60, hidden_sizes=(64, 64), random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.98, model.oof_prediction_.shape
    (True, (400,))

    References
    ----------
    Holzmueller, Grinsztajn and Steinwart, Better by default: strong pre-tuned MLPs and boosted trees on tabular data
    (2024), whose settings these are; Gorishniy, Rubachev and Babenko, On embeddings for numerical features (2022).
    """

    FITTED: ClassVar[Fitted] = {
        **_FITTED,
        "oof_prediction_": FLOAT_VECTOR,
        "_unit": NUMBER,
        "_centre": NUMBER,
        "_spread": NUMBER,
        "_lowest": NUMBER,
        "_highest": NUMBER,
    }
    _task = "regression"

    _unit: float
    _centre: float
    _spread: float
    _lowest: float
    _highest: float

    def __init__(
        self,
        n_estimators: int = 5,
        *,
        hidden_sizes: Sequence[int] = (256, 256, 256),
        activation: Literal["selu", "mish"] = "mish",
        max_epochs: int | Auto = "auto",
        batch_size: int = 256,
        learning_rate: float = 0.2,
        dropout: float = 0.15,
        weight_decay: float = 0.02,
        early_stopping: bool = True,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
        random_state: SeedLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self._store(locals())

    @by_batches
    def predict(self, X: Any) -> FloatArray:
        """The mean of the networks' predictions."""
        shares = [self._shares(outputs) for outputs in self._outputs(X)]
        return np.asarray(self._unit * (sum(shares) / len(shares)))

    def _targets(self, train: TrainingData, rows: RowArray, weight: FloatArray) -> tuple[AnyArray, AnyArray]:
        values = train.target.values[rows]
        # Shares of the largest: squares, and sums, of large floats are not finite.
        self._unit = float(np.abs(values).max()) or 1.0
        shares = values / self._unit
        self._lowest, self._highest = float(shares.min()), float(shares.max())
        self._centre = float(np.average(shares, weights=weight))
        self._spread = float(np.sqrt(np.average((shares - self._centre) ** 2, weights=weight)))
        if self._spread <= 1e-12:
            self._spread = 1.0
        return ((shares - self._centre) / self._spread)[:, None], np.zeros(1)

    def _loss(self) -> NetworkLoss:
        return squared_error()

    def _set_held_out(self, outputs: FloatArray) -> None:
        self.oof_prediction_ = self._unit * self._shares(outputs)

    def _shares(self, outputs: FloatArray) -> FloatArray:
        """Predictions as shares of the largest target, within the range of the targets."""
        return np.clip(self._centre + self._spread * outputs[:, 0], self._lowest, self._highest)
