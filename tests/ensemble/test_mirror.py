"""Classes of `coterie.ensemble` are called as those of `sklearn.ensemble`, and do what ours do with a fitted model."""

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

import coterie
from coterie import ensemble
from coterie.patch import replaceable
from tests.helpers.estimators import answers
from tests.helpers.oracles import needs_scikit_learn

IS_OF_1_9 = needs_scikit_learn("1.9", "the mirror has the parameters and methods of 1.9 beside any version")
CLASSES = list(replaceable().values())
OURS = [getattr(coterie, cls.__name__, None) for cls in CLASSES]
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
NUMBERS = X[:, 0] + X[:, 1] ** 2


def target_of(cls: type[Any]) -> NDArray[Any]:
    return np.where(NUMBERS > 1, "high", "low") if cls.__name__.endswith("Classifier") else NUMBERS


def small(cls: type[Any], **settings: Any) -> Any:
    """An instance that is quick to fit."""
    kind = "Classifier" if cls.__name__.endswith("Classifier") else "Regressor"
    tree = getattr(coterie, f"DecisionTree{kind}")
    given: dict[str, Any] = {"n_estimators": 5, "max_iter": 5, "random_state": 0, "min_samples_leaf": 5}
    given |= {"estimators": [("a", tree(max_depth=2)), ("b", tree(max_depth=3))], "final_estimator": tree()}
    known = inspect.signature(cls).parameters
    return cls(**{name: value for name, value in {**given, **settings}.items() if name in known})


@IS_OF_1_9
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_parameters_and_defaults_are_scikit_learns(cls: type[Any]) -> None:
    theirs = inspect.signature(getattr(sklearn.ensemble, cls.__name__).__init__).parameters
    ours = inspect.signature(cls.__init__).parameters
    assert list(ours) == list(theirs)
    for name, parameter in theirs.items():
        assert (ours[name].default, ours[name].kind) == (parameter.default, parameter.kind), name


@IS_OF_1_9
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_method_of_scikit_learns_class_is_there(cls: type[Any]) -> None:
    theirs = getattr(sklearn.ensemble, cls.__name__)
    public = {name for name in dir(theirs) if not name.startswith("_")} - {
        "param"
    }  # a loop left that in a class
    assert public <= set(dir(cls)), public - set(dir(cls))
    assert list(inspect.signature(cls.fit).parameters) == list(inspect.signature(theirs.fit).parameters)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_wrong_parameter_has_scikit_learns_error(cls: type[Any]) -> None:
    theirs = getattr(sklearn.ensemble, cls.__name__)
    name = "n_jobs" if "n_jobs" in inspect.signature(cls).parameters else "random_state"
    wrong = {name: "many"}
    with pytest.raises(ValueError, match=name) as expected:
        small(theirs, **wrong).fit(X, target_of(cls))
    with pytest.raises(ValueError, match=name) as found:
        small(cls, **wrong).fit(X, target_of(cls))
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_model_is_copied_pickled_saved_and_loaded(cls: type[Any], tmp_path: Path) -> None:
    model = clone(small(cls)).fit(X, target_of(cls))
    path = tmp_path / "model.coterie"
    coterie.save(model, path)
    for other in (pickle.loads(pickle.dumps(model)), coterie.load(path)):
        assert type(other) is cls
        np.testing.assert_array_equal(answers(other, X), answers(model, X))
        assert repr(clone(other)) == repr(clone(model))
        for name in ("train_score_", "validation_score_", "oob_scores_"):
            if hasattr(model, name):
                np.testing.assert_array_equal(getattr(other, name), getattr(model, name))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_what_ours_explains_and_exports_the_mirror_does_too(cls: type[Any]) -> None:
    core = next(base for base in cls.__mro__[1:] if base.__name__ in coterie.__all__)
    model = small(cls).fit(X, target_of(cls))
    if hasattr(core, "explain") and not cls.__name__.startswith(("Voting", "Stacking")):
        explained = model.explain(X[:3])
        assert explained.values.shape[:2] == (3, 4)
    if hasattr(core, "tree_sum"):
        assert model.tree_sum().n_outputs >= 1
    assert is_classifier(model) == cls.__name__.endswith("Classifier")


def test_models_have_members_as_scikit_learns_have() -> None:
    forest = ensemble.RandomForestClassifier(3, random_state=0).fit(
        X, target_of(ensemble.RandomForestClassifier)
    )
    assert len(forest) == 3
    assert [type(tree) for tree in forest] == [coterie.DecisionTreeClassifier] * 3
    boosting = ensemble.GradientBoostingRegressor(n_estimators=4).fit(X, NUMBERS)
    assert boosting.estimators_.shape == (4, 1)
    total = boosting.baseline_[0] + 0.1 * sum(tree.predict(X) for tree in boosting.estimators_[:, 0])
    np.testing.assert_allclose(boosting.predict(X), total)


def test_classes_that_are_not_ours_are_scikit_learns() -> None:
    named = {name for name in ensemble.__all__ if isinstance(getattr(sklearn.ensemble, name), type)}
    assert named == {
        name for name in sklearn.ensemble.__all__ if isinstance(getattr(sklearn.ensemble, name), type)
    }
    for name in named - set(replaceable()):
        assert getattr(ensemble, name) is getattr(sklearn.ensemble, name)
