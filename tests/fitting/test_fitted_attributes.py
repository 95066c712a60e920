"""`FITTED` is the whole truth about what a fit leaves behind: in the object, in the documentation, after a refit."""

import inspect
import re
from typing import Any

import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

import coterie
from coterie._storage import SET_BY_SKLEARN
from coterie.export import ImportedClassifier, ImportedRegressor
from coterie.fitting.estimator import forget
from tests.helpers.estimators import ESTIMATORS, answers, has, make, random_table

FITS: dict[str, dict[str, Any]] = {
    "plain": {},
    "early stopping": {"early_stopping": True, "n_estimators": 8, "validation_fraction": 0.3},
    "out of bag": {"oob_score": True, "keep_rows": True, "bootstrap": True},
    "warm start": {"warm_start": True, "n_folds": 2},
    "out of fold": {"cv": KFold(3), "leak_guard": True, "on_error": "drop"},
    "corrective": {"corrective": "margin"},
}
# Each fit of each estimator that has one of its settings.
CASES = [
    pytest.param(estimator, own, id=f"{estimator.__name__}, {name}")
    for estimator in ESTIMATORS
    for name, settings in FITS.items()
    if (own := {key: value for key, value in settings.items() if has(estimator, key)}) or not settings
]
# A few trees leave rows that every one of them drew; the guard may find that a few rows keep no promise.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def _fitted(estimator: type[Any], **settings: Any) -> Any:
    X, y = random_table(estimator, n_rows=90)
    return make(estimator, **settings).fit(X, y)


def _attributes(model: Any) -> set[str]:
    """What an object holds beside its parameters and what scikit-learn sets on it."""
    own = set(vars(model)) - set(inspect.signature(type(model)).parameters) - set(SET_BY_SKLEARN)
    return {name for name in own if not re.match("_skl_callbacks|_parent_callback|_metadata_request", name)}


@pytest.mark.parametrize(("estimator", "own"), CASES)
def test_a_fit_leaves_nothing_behind_that_is_not_declared(estimator: type[Any], own: dict[str, Any]) -> None:
    X, y = random_table(estimator, n_rows=90)
    model = make(estimator, **own)
    watched = "eval_set" in inspect.signature(model.fit).parameters and "early_stopping" in own

    model.fit(X, y, **({"eval_set": (X, y)} if watched else {}))
    answers(model, X)
    if own.get("keep_rows") and hasattr(model, "predict_quantiles"):
        model.predict_quantiles(X, 0.5)

    assert _attributes(model) <= set(estimator.FITTED)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_model_that_forgets_is_as_it_was_before_fit(estimator: type[Any]) -> None:
    model = _fitted(estimator)

    forget(model)

    assert set(vars(model)) == set(vars(make(estimator)))
    with pytest.raises(NotFittedError):
        answers(model, random_table(estimator)[0])


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_fit_forgets_what_only_the_last_one_found(estimator: type[Any]) -> None:
    X, y = random_table(estimator, n_rows=90)
    names = [f"x{number}" for number in range(X.shape[1])]
    choices = {"bootstrap": True, "oob_score": True, "cv": KFold(3), "leak_guard": True}
    first = make(estimator, **{name: value for name, value in choices.items() if has(estimator, name)})
    first.fit(dict(zip(names, X.T, strict=True)), y)
    second = make(estimator).fit(X, y)

    first.set_params(**second.get_params(deep=False)).fit(X, y)

    assert set(vars(first)) == set(vars(second))


def test_a_forest_that_was_pruned_forgets_it_when_it_is_fitted() -> None:
    X, y = random_table(coterie.RandomForestRegressor)
    pruned = coterie.prune(_fitted(coterie.RandomForestRegressor), X, y, to=2)
    assert "pruning_path_" in vars(pruned)

    assert "pruning_path_" not in vars(pruned.fit(X, y))


def test_some_attributes_can_be_forgotten_alone() -> None:
    model = _fitted(coterie.DecisionTreeClassifier)

    forget(model, ("classes_", "never_there_"))

    assert set(coterie.DecisionTreeClassifier.FITTED) - set(vars(model)) == {"classes_"}


def _documented(estimator: type[Any]) -> set[str]:
    """The names in the section on attributes of a docstring."""
    section = re.search(
        r"^Attributes\n-+\n(.*?)(?:\n\n|\Z)", inspect.getdoc(estimator) or "", re.DOTALL | re.MULTILINE
    )
    assert section is not None
    heads = [line.split(" : ")[0] for line in section[1].splitlines() if line[:1].strip()]
    return {name for head in heads for name in head.split(", ")}


@pytest.mark.parametrize("estimator", [*ESTIMATORS, ImportedClassifier, ImportedRegressor])
def test_every_public_attribute_is_documented_and_no_other(estimator: type[Any]) -> None:
    declared = {name for name in estimator.FITTED if not name.startswith("_")}
    documented = _documented(estimator)
    computed = {name for name in documented if isinstance(vars_of(estimator).get(name), property)}

    assert all(name.endswith("_") for name in declared)
    assert declared <= documented
    assert documented <= declared | computed | set(SET_BY_SKLEARN)


def vars_of(cls: type[Any]) -> dict[str, Any]:
    """Class attributes, inherited ones too."""
    return {name: held for base in reversed(cls.__mro__) for name, held in vars(base).items()}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_parameter_is_declared_as_an_attribute(estimator: type[Any]) -> None:
    assert not set(estimator.FITTED) & {*inspect.signature(estimator).parameters, *SET_BY_SKLEARN}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_what_a_fit_sets_is_of_the_declared_type(estimator: type[Any]) -> None:
    model = _fitted(estimator)
    held = {name: value for name, value in vars(model).items() if name in estimator.FITTED}

    wrong = [name for name, value in held.items() if not estimator.FITTED[name].accepts(value)]

    assert wrong == []
    assert len(answers(model, random_table(estimator)[0])) > 0
