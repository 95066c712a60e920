"""Notebooks show every estimator: facts of the fit above scikit-learn's diagram, escaped, without a network."""

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.ensemble import RandomForestClassifier as TheirForest

from coterie import (
    BaggingClassifier,
    CommitteeClassifier,
    DecisionTreeClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from coterie.fitting.fitted_facts import facts_html, fitted_facts
from tests.helpers.estimators import ESTIMATORS, make, random_table, says_classes

TAG = '<img src="https://example.org/x.png">'


class Loads(HTMLParser):
    """Collects what a page would fetch, and tags that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.fetched += [
            f"{tag} {name}" for name, _ in attrs if name == "src" or (tag == "link" and name == "href")
        ]


def fetched(html: str) -> list[str]:
    parser = Loads()
    parser.feed(html)
    return parser.fetched + re.findall(r"@import|url\(\s*['\"]?http", html)


def table_with_tags(estimator: type[Any]) -> tuple[Any, Any]:
    X, y = random_table(estimator)
    frame = pd.DataFrame(X, columns=[TAG, "b", "c", "d"])
    return frame, np.char.add(y.astype(str), TAG).astype(object) if says_classes(estimator) else y


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_fitted_estimator_shows_facts_and_its_diagram(estimator: type[Any]) -> None:
    X, y = table_with_tags(estimator)
    model = make(estimator)
    before = model._repr_html_()
    html = model.fit(X, y)._repr_html_()

    assert f"<b>{estimator.__name__}</b>, not fitted yet" in before
    assert f"<b>{estimator.__name__}</b>, fitted" in html
    assert "sk-" in html
    assert "columns: 4: " in html
    assert ("classes: 3: " in html) == says_classes(estimator)
    assert TAG not in html
    assert not fetched(html)
    assert not fetched(before)
    assert model._repr_mimebundle_()["text/html"].startswith(facts_html(model))
    assert len(fitted_facts(model)) >= (2 if says_classes(estimator) else 1)


def test_what_would_be_fetched_is_found() -> None:
    assert fetched(TAG) == ["img src"]
    assert fetched('<style>@import "x";</style><link href="https://example.org">') == ["link href", "@import"]


def test_text_is_shown_instead_of_a_diagram_if_scikit_learn_is_told_so() -> None:
    with config_context(display="text"):
        assert not hasattr(DecisionTreeClassifier(), "_repr_html_")
        assert set(DecisionTreeClassifier()._repr_mimebundle_()) == {"text/plain"}


def facts_of(model: Any, n_columns: int = 3) -> dict[str, str]:
    X = np.random.default_rng(0).normal(size=(80, n_columns))
    y = X[:, 0] if is_regressor(model) else np.where(X[:, 0] > 0, "yes", "no")
    return dict(fitted_facts(model.fit(X, y)))


def test_facts_of_each_kind_of_model() -> None:
    tree = DecisionTreeClassifier(max_depth=1)
    assert facts_of(tree) == {"columns": "3", "classes": "2: no, yes", "tree": "2 leaves, depth 1"}
    boosting = facts_of(GradientBoostingRegressor(n_estimators=7))
    assert boosting == {"columns": "3", "rounds": "7"}
    several = facts_of(GradientBoostingRegressor(n_folds=2, random_state=0))["rounds"]
    assert re.fullmatch(r"\d+ in \d boosters: \d+(, \d+)+", several)
    bags = facts_of(BaggingClassifier(n_estimators=30, oob_score=True, random_state=0))
    assert bags["members"] == "30"
    assert facts_of(RandomForestClassifier(30, random_state=0))["trees"] == "30"
    assert 0.8 < float(bags["score out of bag"]) <= 1.0


def test_facts_of_a_committee_are_in_the_units_of_its_leaderboard() -> None:
    members = [
        ("tree", DecisionTreeClassifier(max_depth=2)),
        ("their forest", TheirForest(5, random_state=0)),
    ]
    model = CommitteeClassifier(None, portfolio=members, cv=3, random_state=0)
    facts = facts_of(model)
    assert re.fullmatch(r"log_loss ↓ \d\.\d+ ± \d\.\d+", facts["score out of fold"])
    assert re.fullmatch(r"\d: (tree|their forest) \d+%.*", facts["members"])
    assert facts["fit time"].endswith(" s")


def test_of_many_columns_some_are_named() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 12)), columns=[f"c{i}" for i in range(12)])
    model = DecisionTreeClassifier().fit(X, X["c0"] > 0)
    assert dict(fitted_facts(model))["columns"] == "12: c0, c1, c2, c3, c4, c5, c6, c7 and 4 more"
    assert fitted_facts(clone(model)) == []
