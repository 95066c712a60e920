"""A parameter stands once in each place: in the constructor, in the rules, in the docstring, in its type."""

import inspect
import textwrap
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

import coterie
from coterie import GradientBoostingClassifier, RandomForestClassifier
from coterie._documentation import documented, parameter_texts
from coterie._params import EstimatorLike, OneOf
from coterie.fitting.scoring import ScorerName
from coterie.members.out_of_fold import Splitter

PUBLIC = [getattr(coterie, name) for name in coterie.__all__]
CLASSES = [each for each in PUBLIC if isinstance(each, type)]
ESTIMATORS = [each for each in CLASSES if hasattr(each, "PARAMS")]


def parameters_of(estimator: type) -> list[str]:
    return list(inspect.signature(estimator).parameters)


@pytest.mark.parametrize("estimator", CLASSES)
def test_the_docstring_explains_the_parameters_in_the_order_of_the_constructor(estimator: Any) -> None:
    written = textwrap.indent(inspect.cleandoc(estimator.__doc__), "    ")
    section = written.split("Attributes\n")[0].split("----------\n", 1)[1].split("\n\n")[0]
    explained = [name for entry in parameter_texts(section) for name in entry.split(", ")]

    assert sorted(explained) == sorted(parameters_of(estimator))
    firsts = [entry.split(", ")[0] for entry in parameter_texts(section)]
    assert firsts == sorted(firsts, key=parameters_of(estimator).index)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_rules_are_those_of_the_constructor(estimator: Any) -> None:
    assert sorted(estimator.PARAMS) == sorted(parameters_of(estimator))


def literals_of(annotation: Any) -> set[Any]:
    """The names that a type allows: those of its Literals, also within a union."""
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return set().union(*map(literals_of, get_args(annotation)))
    return set()


# Beside its names, such a parameter takes objects of anybody's class, or the name of any scorer.
OF_ANY_KIND = (EstimatorLike, ScorerName, Splitter)
CHOICES = [
    (estimator, name)
    for estimator in ESTIMATORS
    for name, rules in estimator.PARAMS.items()
    if any(isinstance(rule, OneOf) for rule in rules)
    and not any(isinstance(rule, OF_ANY_KIND) for rule in rules)
]


def test_every_family_has_choices() -> None:
    assert {estimator.__module__.split(".")[1] for estimator, _ in CHOICES} == {
        "adaboost",
        "bagging",
        "boosting",
        "combining",
        "committee",
        "forests",
        "networks",
        "trees",
    }


@pytest.mark.parametrize(("estimator", "parameter"), CHOICES)
def test_the_type_of_a_choice_holds_the_names_that_the_rules_allow(estimator: Any, parameter: str) -> None:
    allowed = {name for rule in estimator.PARAMS[parameter] if isinstance(rule, OneOf) for name in rule.names}

    assert literals_of(get_type_hints(estimator.__init__)[parameter]) == allowed


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_type_holds_no_name_without_a_rule(estimator: Any) -> None:
    types = get_type_hints(estimator.__init__)
    named = {name for name in estimator.PARAMS if literals_of(types[name])}

    assert named == {name for owner, name in CHOICES if owner is estimator}


def test_a_text_without_a_parameter_and_a_parameter_without_a_text_are_seen() -> None:
    class Model:
        def __init__(self, low: int = 0, high: int = 1) -> None: ...

    Model.__doc__ = "A model.\n\n    Examples\n    --------\n"
    documented("    lost : int\n    low : int\n")(Model)

    section = "    Parameters\n    ----------\n    low : int\n    lost : int\n"
    assert Model.__doc__ == f"A model.\n\n{section}\n    Examples\n    --------\n"


@pytest.mark.parametrize(
    ("estimator", "opening"),
    [
        (GradientBoostingClassifier, "Gradient boosting for classes."),
        (RandomForestClassifier, "A random forest for classes."),
    ],
)
def test_the_docstring_keeps_its_opening_and_its_examples(estimator: Any, opening: str) -> None:
    text = estimator.__doc__ or ""

    assert text.startswith(opening)
    assert "<" not in text.split("Examples\n")[0]
    assert text.count("Examples\n    --------") == 1
    assert "oob_decision_function_ : array" in text or "oof_proba_ : array" in text
    assert "{" not in text.replace('{"', "")


class _Ensemble:
    """An ensemble.

    Examples
    --------
    >>> 1
    1
    """

    def __init__(self, size: int = 3) -> None:
        self.size = size


def test_a_docstring_without_indentation_is_completed_as_well() -> None:
    """Python 3.13 and later remove the indentation of docstrings."""
    docstrings = []
    for docstring in (_Ensemble.__doc__ or "", inspect.cleandoc(_Ensemble.__doc__ or "")):
        copy = type("Copy", (_Ensemble,), {"__doc__": docstring})
        docstrings.append(documented("    size : int\n        How large.\n")(copy).__doc__)

    assert str(docstrings[0]).rstrip() == str(docstrings[1]).rstrip()
    assert "    Parameters\n    ----------\n    size : int\n        How large.\n" in str(docstrings[0])


def test_a_class_without_a_docstring_stays_without_one() -> None:
    """As every class does under `python -OO`."""
    bare = type("Bare", (), {"__doc__": None})
    assert documented("    size : int\n")(bare).__doc__ is None
