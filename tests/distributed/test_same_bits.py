"""Workers that each have a slice of the rows grow the model of one process: bit for bit, however rows are divided."""

import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coterie
from coterie import GradientBoostingClassifier, GradientBoostingRegressor, _engine
from coterie.distributed.collective import GangAborted, ThreadGang
from coterie.distributed.members import divide
from coterie.errors import InvalidInput, InvalidParameter, SchemaMismatch
from coterie.losses import CustomLoss
from tests.helpers.streamed import FEATURES, differences_of_fits, mixed_table, pieces
from tests.helpers.thread_cluster import fitted_by_threads

ROLES = {"sample_weight": "weight", "offset": "start", "groups": "team"}
FEW = {"n_estimators": 6, "random_state": 0}
STOPS = {"n_estimators": 30, "n_iter_no_change": 3, "random_state": 0}


def table(seed: int, n_rows: int) -> pd.DataFrame:
    frame = mixed_table(seed, n_rows)
    frame["two"] = np.where(frame["number"] > 3, "yes", "no")
    frame["other"] = np.where(np.arange(n_rows) % 3 == 0, "no", frame["two"])
    frame["amount"] = np.exp(frame["number"] / 4)
    frame["share"] = 1 / (1 + frame["amount"])
    return frame


def partitions(frame: pd.DataFrame, sizes: Any, target: Any, roles: Any) -> list[dict[str, Any]]:
    return [
        {"X": part[FEATURES], "y": part[target], **{role: part[ROLES[role]] for role in roles}}
        for part in pieces(frame, sizes)
    ]


def check(
    model: Any, target: Any, roles: Any = (), *, frame: Any = None, sizes: Any = (100, 0, 250, 7), **how: Any
) -> None:
    """The model of one process, and that of several workers."""
    frame = table(0, 700) if frame is None else frame
    n_workers, faults = how.pop("n_workers", 3), how.pop("faults", ())
    alone = coterie_clone(model).fit(
        frame[FEATURES], frame[target], **{role: frame[ROLES[role]] for role in roles}, **how
    )
    together = fitted_by_threads(
        model, partitions(frame, sizes, target, roles), n_workers, faults=faults, **how
    )
    if isinstance(model.loss, CustomLoss):
        together.loss = alone.loss = "squared_error"  # functions cannot be compared
    for curve in ("train_losses_", "eval_losses_"):  # of fits in one process, beside validation_losses_
        assert not hasattr(together, curve)
        vars(alone).pop(curve, None)
    assert differences_of_fits(together, alone) == []


def coterie_clone(model: Any) -> Any:
    from sklearn.base import clone

    return clone(model)


LOG_COSH = CustomLoss(
    value=lambda y, score: np.logaddexp(score - y, y - score),
    gradient=lambda y, score: np.tanh(score - y),
    hessian=lambda y, score: 1 - np.tanh(score - y) ** 2,
)

CASES: dict[str, tuple[Any, Any, Any]] = {
    "two classes": (GradientBoostingClassifier(**FEW), "two", ()),
    "several classes": (GradientBoostingClassifier(**FEW), "label", ("sample_weight",)),
    "shared trees": (
        GradientBoostingClassifier(multi_strategy="shared_trees", **FEW),
        "label",
        ("sample_weight",),
    ),
    "shared trees of a sample": (
        GradientBoostingClassifier(
            multi_strategy="shared_trees", growth="oblivious", max_depth=4, subsample=0.5, n_folds=2, **FEW
        ),
        "label",
        (),
    ),
    "balanced": (GradientBoostingClassifier(class_weight="balanced", **FEW), "label", ()),
    "exponential": (GradientBoostingClassifier(loss="exponential", **FEW), "two", ("sample_weight",)),
    "focal": (GradientBoostingClassifier(loss="focal", **FEW), "two", ()),
    "numbers": (GradientBoostingRegressor(**FEW), "number", ("sample_weight", "offset")),
    "several targets": (GradientBoostingRegressor(**FEW), ["number", "amount"], ("sample_weight",)),
    **{
        f"several targets, {loss}, {strategy}": (
            GradientBoostingRegressor(loss=loss, multi_strategy=strategy, **FEW),
            ["number", "amount"],
            ("sample_weight",),
        )
        for loss in ("huber", "absolute_error")
        for strategy in ("one_tree_per_target", "shared_trees")
    },
    **{
        f"several labels, {strategy}": (
            GradientBoostingClassifier(multi_strategy=strategy, class_weight="balanced", n_folds=2, **FEW),
            ["two", "other"],
            ("sample_weight",),
        )
        for strategy in ("one_tree_per_class", "shared_trees")
    },
    **{
        loss: (GradientBoostingRegressor(loss=loss, **FEW), target, ("sample_weight",))
        for loss, target in {
            "absolute_error": "number",
            "huber": "number",
            "quantile": "number",
            "expectile": "number",
            "poisson": "amount",
            "gamma": "amount",
            "tweedie": "amount",
            "cross_entropy": "share",
        }.items()
    },
    "custom loss": (GradientBoostingRegressor(loss=LOG_COSH, max_step=0.5, **FEW), "number", ()),
    "symmetric trees": (GradientBoostingRegressor(growth="oblivious", max_depth=4, **FEW), "number", ()),
    "levels": (GradientBoostingClassifier(growth="level", **FEW), "label", ()),
    "linear leaves": (GradientBoostingRegressor(linear_leaves=True, **FEW), "number", ()),
    "uniform": (GradientBoostingClassifier(sampling_method="uniform", subsample=0.5, **FEW), "label", ()),
    "by gradients": (
        GradientBoostingRegressor(sampling_method="gradient_based", subsample=0.5, **FEW),
        "number",
        ("sample_weight",),
    ),
    "bayesian": (GradientBoostingRegressor(sampling_method="bayesian", **FEW), "number", ()),
    "constraints": (
        GradientBoostingRegressor(interaction_cst=[[0, 1, 2], [3, 4]], monotonic_cst={"wide": 1}, **FEW),
        "number",
        (),
    ),
    "draws of features": (
        GradientBoostingRegressor(max_features=0.5, max_features_per_tree=0.7, split_noise=1.0, **FEW),
        "number",
        (),
    ),
    "numbers that are labels": (
        GradientBoostingRegressor(categorical_features=["whole", "small", "town"], **FEW),
        "number",
        (),
    ),
    "early stopping": (GradientBoostingClassifier(early_stopping=True, **STOPS), "label", ("sample_weight",)),
    "groups": (GradientBoostingRegressor(early_stopping=True, **STOPS), "number", ("groups",)),
    "last rows": (
        # The last workers have no rows to learn from.
        GradientBoostingRegressor(early_stopping=True, holdout="last_rows", validation_fraction=0.6, **STOPS),
        "number",
        (),
    ),
    "scoring": (GradientBoostingClassifier(early_stopping=True, scoring="accuracy", **STOPS), "label", ()),
    "folds": (GradientBoostingRegressor(n_folds=3, early_stopping=True, **STOPS), "number", ()),
    "statistics of columns": (
        GradientBoostingClassifier(target_statistics="columns", **FEW),
        "label",
        ("sample_weight",),
    ),
    "statistics of pairs": (GradientBoostingRegressor(target_statistics="pairs", **FEW), "number", ()),
    "statistics of folds": (
        GradientBoostingRegressor(
            target_statistics="columns", n_folds=2, early_stopping=True, refit=True, **STOPS
        ),
        "number",
        ("sample_weight", "groups"),
    ),
    "statistics and lines": (
        GradientBoostingRegressor(
            target_statistics="columns", linear_leaves=True, interaction_cst="pairwise", **FEW
        ),
        "number",
        (),
    ),
    "refit": (GradientBoostingRegressor(refit=True, early_stopping=True, **STOPS), "number", ()),
}


@pytest.mark.parametrize("name", CASES)
def test_workers_grow_the_model_of_one(name: str) -> None:
    model, target, roles = CASES[name]
    check(model, target, roles)


def test_the_default_recipe() -> None:
    check(GradientBoostingClassifier(random_state=0), "two", frame=table(3, 150), sizes=(40, 60), n_workers=2)


def test_an_eval_set_is_measured_by_all_workers() -> None:
    other = table(1, 300)
    for statistics in ("none", "columns"):
        model = GradientBoostingRegressor(target_statistics=statistics, **STOPS)
        check(model, "number", eval_set=(other[FEATURES], other["number"], other["weight"]))


@given(
    seed=st.integers(0, 9),
    n_rows=st.integers(30, 300),
    sizes=st.lists(st.integers(0, 80), min_size=1, max_size=5).filter(any),
    n_workers=st.integers(1, 4),
    classes=st.booleans(),
    stops=st.booleans(),
)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_partitions_and_workers(
    seed: int, n_rows: int, sizes: list[int], n_workers: int, classes: bool, stops: bool
) -> None:
    kind: Any = GradientBoostingClassifier if classes else GradientBoostingRegressor
    model = kind(n_estimators=4, early_stopping=stops, max_leaf_nodes=8, random_state=seed)
    frame = table(seed, n_rows)
    check(
        model,
        "label" if classes else "number",
        ("sample_weight",),
        frame=frame,
        sizes=sizes,
        n_workers=n_workers,
    )


@pytest.mark.parametrize("faults", [(2,), (25,), (30, 15), (1, 2, 3)], ids=str)
@pytest.mark.parametrize(
    "name",
    [
        "several classes",
        "shared trees",
        "huber",
        "folds",
        "refit",
        "linear leaves",
        "last rows",
        "statistics of columns",
        "statistics of folds",
    ],
)
def test_a_gang_that_is_lost_goes_on_from_the_last_round(name: str, faults: tuple[int, ...]) -> None:
    model, target, roles = CASES[name]
    check(model, target, roles, n_workers=4, faults=faults)


def test_a_monitor_stops_all_workers_after_the_same_round() -> None:
    from coterie.fitting.monitor import monitored

    seen: list[int] = []

    def stop_after_five(event: Any) -> bool:
        if event.step != "round":
            return False
        seen.append(event.done)
        model = event.fitted()
        return event.done == 5 and len(model["forest_"]) == 5

    frame = table(0, 300)
    with monitored(stop_after_five):
        model = fitted_by_threads(
            GradientBoostingRegressor(n_estimators=20, random_state=0),
            partitions(frame, (90,), "number", ()),
            3,
        )
    alone = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(frame[FEATURES], frame["number"])
    assert seen == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(model.predict(frame[FEATURES]), alone.predict(frame[FEATURES]))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"refit": True, "early_stopping": True, "n_folds": 2},
        {"target_statistics": "columns", "n_folds": 2},
    ],
    ids=str,
)
def test_a_client_that_was_interrupted_goes_on_from_its_checkpoint(tmp_path: Any, given: Any) -> None:
    from coterie.fitting.monitor import monitored

    frame = table(0, 400)
    parts, others = (partitions(frame, sizes, "number", ()) for sizes in ((90,), (150, 30)))
    rounds: list[int] = []

    def interrupt(event: Any) -> bool:
        if event.step == "round":
            rounds.append(event.done)
            if event.done == 5:
                raise KeyboardInterrupt
        return False

    model = GradientBoostingRegressor(n_estimators=15, random_state=0, checkpoint=tmp_path, **given)
    with monitored(interrupt), pytest.raises(KeyboardInterrupt):
        fitted_by_threads(model, parts, 2)
    alone = coterie_clone(model).set_params(checkpoint=None).fit(frame[FEATURES], frame["number"])
    rounds.clear()
    resumed = fitted_by_threads(model, others, 3, resume=True)
    resumed.checkpoint = None
    assert differences_of_fits(resumed, alone) == []
    changed = partitions(frame.assign(wide=frame["wide"] + 1), (90,), "number", ())
    model.checkpoint = tmp_path
    with pytest.raises(InvalidInput, match="another fit"):
        fitted_by_threads(model, changed, 2, resume=True)


def test_errors_of_one_worker_end_the_calls_of_all() -> None:
    """What a communicator raises comes out of the engine's call, and nobody waits."""
    gang = ThreadGang(2)
    found: list[BaseException] = []

    class Broken:
        def sum(self, words: Any) -> Any:
            gang.abort("no more")
            raise RuntimeError("no connection")

        def max(self, words: Any) -> Any:
            return self.sum(words)

    def run(collective: Any) -> None:
        values = np.random.default_rng(0).normal(size=(100, 3))
        mapper = _engine.BinMapper.from_cuts([[0.0]] * 3, np.zeros(3, np.int32))
        communicator = _engine.Communicator(collective)
        try:
            builder = _engine.BinnedMatrixBuilder(mapper, 100, 1)
            builder.append(values, np.zeros(3, np.int32))
            matrix = builder.finish(communicator, 0)
            grower = _engine.TreeGrower(matrix, _engine.GrowOptions(), 1, communicator, 0)
            grower.grow(values[:, 0].astype(np.float32), np.empty(0, np.float32), np.empty(0, np.uint32), 0)
        except BaseException as error:
            found.append(error)

    threads = [threading.Thread(target=run, args=(each,)) for each in (gang.member(0), Broken())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(type(error).__name__ for error in found) == ["GangAborted", "RuntimeError"]


@pytest.mark.parametrize(
    "answer", [None, np.zeros(3), np.zeros(10_000, np.uint64)], ids=["nothing", "floats", "too many"]
)
def test_a_communicator_that_answers_nonsense_is_refused(answer: Any) -> None:
    class Odd:
        def sum(self, words: Any) -> Any:
            return answer

        def max(self, words: Any) -> Any:
            return answer

    mapper = _engine.BinMapper.from_cuts([[0.0]] * 2, np.zeros(2, np.int32))
    builder = _engine.BinnedMatrixBuilder(mapper, 5, 1)
    builder.append(np.zeros((5, 2)), np.zeros(2, np.int32))
    with pytest.raises(InvalidInput, match="communicator"):
        builder.finish(_engine.Communicator(Odd()), 0)


def test_bins_from_elsewhere_have_to_exist() -> None:
    mapper = _engine.BinMapper.from_cuts([[0.0]], np.zeros(1, np.int32))
    values = np.array([[-1.0], [1.0], [np.nan]])
    bins = mapper.bins(values, np.zeros(1, np.int32))
    assert bins.tolist() == [[1, 2, 0]]
    builder = _engine.BinnedMatrixBuilder(mapper, 3, 1)
    with pytest.raises(InvalidInput, match="does not have"):
        builder.append_bins([np.full(3, 9, np.uint8)], 3)
    builder = _engine.BinnedMatrixBuilder(mapper, 3, 1)
    builder.append_bins([bins[0]], 3)
    assert builder.finish().column(0).tolist() == [1, 2, 0]


def test_slices_are_even() -> None:
    for lengths in ([10, 0, 3], [1], [0, 0, 7, 0], [100, 1, 1]):
        for n_members in (1, 2, 3, 4):
            members = divide(lengths, n_members, 10)
            sizes = [own.n_rows for own in members]
            assert sum(sizes) == sum(lengths)
            assert max(sizes) - min(sizes) <= 1
            assert [piece.end - piece.begin for own in members for piece in own.pieces].count(0) == 0
            assert members[-1].eval_rows.stop == 10


def test_members_that_make_different_calls_are_stopped() -> None:
    gang = ThreadGang(2)
    found: list[Any] = []

    def run(call: Any) -> None:
        try:
            call(np.ones(1, np.uint64))
        except GangAborted as error:
            found.append(error.reason)

    threads = [
        threading.Thread(target=run, args=(call,)) for call in (gang.member(0).sum, gang.member(1).gather)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(found) == 2
    assert "different calls" in found[0]


def wrong_partitions(change: Any) -> list[dict[str, Any]]:
    parts = partitions(table(0, 300), (100,), "number", ())
    parts[2] = change(dict(parts[2]))
    return parts


def replaced(part: dict[str, Any], **columns: Any) -> dict[str, Any]:
    return {**part, "X": part["X"].assign(**columns)}


@pytest.mark.parametrize(
    ("change", "error", "column"),
    [
        (lambda part: replaced(part, more=1.0), SchemaMismatch, "more"),
        (lambda part: {**part, "X": part["X"].drop(columns="holes")}, SchemaMismatch, "holes"),
        (lambda part: {**part, "X": part["X"][FEATURES[::-1]]}, SchemaMismatch, None),
        (lambda part: replaced(part, wide="text"), SchemaMismatch, "wide"),
        (
            lambda part: replaced(part, size=pd.Categorical(["s"] * 100, ["m", "s", "l"], ordered=True)),
            SchemaMismatch,
            "size",
        ),
        (lambda part: {**part, "y": part["y"].where(part["y"] > part["y"].min())}, InvalidInput, None),
        (lambda part: {**part, "X": part["X"][:50]}, InvalidInput, None),
    ],
    ids=[
        "more columns",
        "fewer",
        "other order",
        "other kind",
        "other categories",
        "missing target",
        "other length",
    ],
)
def test_wrong_partitions_are_named(change: Any, error: Any, column: str | None) -> None:
    model = GradientBoostingRegressor(n_estimators=2)
    with pytest.raises(error, match=r"partition 2 \(from row 200 of the table\)") as caught:
        fitted_by_threads(model, wrong_partitions(change), 2)
    assert column is None or caught.value.column == column


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("init", coterie.DecisionTreeRegressor()),
        ("warm_start", True),
        ("dropout_rate", 0.1),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(parameter: str, value: Any) -> None:
    model = GradientBoostingRegressor(n_estimators=2, **{parameter: value})
    with pytest.raises(InvalidParameter) as caught:
        fitted_by_threads(model, partitions(table(0, 60), (30,), "number", ()), 2)
    assert caught.value.parameter == parameter


@pytest.mark.filterwarnings("ignore:y holds one class:UserWarning")
def test_one_class_on_workers_is_a_model_without_trees() -> None:
    frame = table(0, 300)
    frame["one"] = "yes"

    check(GradientBoostingClassifier(**FEW), "one", frame=frame)
