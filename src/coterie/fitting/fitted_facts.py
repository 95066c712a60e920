"""What a notebook shows of an estimator: scikit-learn's diagram, and above it what was learned in a few lines."""

from collections.abc import Callable, Iterator
from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from coterie.errors import CoterieError
from coterie.metrics import shown_metric

_MOST_NAMED = 8  # columns, classes or members
_STYLE = (
    "font-family: sans-serif; font-size: 13px; margin: 0 0 6px; padding: 4px 10px; border-left: 3px solid #0072b2; "
    "display: inline-block"
)


def fitted_facts(model: Any) -> list[tuple[str, str]]:
    """What there is to know about a fitted model at a glance: pairs of a name and a text; none before a fit.

    Examples
    --------
    >>> from coterie import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier()
    >>> fitted_facts(model)
    []
    >>> fitted_facts(model.fit({"age": [20, 50]}, ["no", "yes"]))
    [('columns', '1: age'), ('classes', '2: no, yes'), ('tree', '2 leaves, depth 1')]
    """
    try:
        check_is_fitted(model)
    except NotFittedError:
        return []
    return [(name, text) for name, fact in _FACTS.items() if (text := _known(fact, model)) is not None]


def _known(fact: Callable[[Any], str | None], model: Any) -> str | None:
    """A fact; None where an attribute does not exist, or cannot be computed for this model."""
    try:
        return fact(model)
    except (AttributeError, CoterieError):
        return None


def _columns(model: Any) -> str:
    n = int(model.n_features_in_)
    names = getattr(model, "feature_names_in_", None)
    return f"{n:,}" if names is None else f"{n:,}: {_listed(names)}"


def _classes(model: Any) -> str:
    if isinstance(model.classes_, list):
        return "; ".join(f"{len(own):,}: {_listed(own)}" for own in model.classes_)
    return f"{len(model.classes_):,}: {_listed(model.classes_)}"


def _targets(model: Any) -> str | None:
    return f"{model.n_outputs_:,}" if model.n_outputs_ > 1 else None


def _tree(model: Any) -> str:
    return f"{model.get_n_leaves():,} leaves, depth {model.get_depth()}"


def _rounds(model: Any) -> str:
    rounds = np.asarray(model.rounds_).tolist()
    if len(rounds) == 1:
        return f"{rounds[0]:,}"
    return f"{sum(rounds):,} in {len(rounds)} boosters: {', '.join(map(str, rounds))}"


def _trees(model: Any) -> str | None:
    return None if hasattr(model, "rounds_") else f"{len(model.forest_):,}"


def _members(model: Any) -> str | None:
    """Names with the weights where they have some, or how many there are."""
    if hasattr(model, "forest_"):
        return None
    named = getattr(model, "named_estimators_", None)
    if named is None:
        return f"{len(model.estimators_):,}"
    names = list(named)
    weights = getattr(model, "weights_", None)
    known = list(getattr(model, "members_", names))
    if weights is None or len(weights) != len(known):
        return f"{len(names):,}: {_listed(names)}"
    shares = {name: float(weight) for name, weight in zip(known, weights, strict=True) if weight > 0}
    total = sum(shares.values())
    return f"{len(shares):,}: {_listed([f'{name} {share / total:.0%}' for name, share in shares.items()])}"


def _out_of_bag(model: Any) -> str:
    return f"{float(model.oob_score_):.4g}"


def _out_of_fold(model: Any) -> str:
    """By the metric's usual name and sign where it is known."""
    score, error = float(model.oof_score_), float(getattr(model, "oof_score_error_", np.nan))
    scoring = getattr(model, "scoring_", None)
    heading = ""
    if isinstance(scoring, str):
        shown = shown_metric(scoring)
        heading, error, score = f"{shown.heading} ", shown.error(score, error), shown.value(score)
    return f"{heading}{score:.4g}" + (f" ± {error:.2g}" if np.isfinite(error) else "")


def _threshold(model: Any) -> str | None:
    return None if model.threshold_ is None else f"{float(model.threshold_):.4g}"


def _stopped(model: Any) -> str:
    return str(model.stopped_because_)


def _fit_time(model: Any) -> str:
    return f"{float(model.fit_time_):.3g} s"


_FACTS: dict[str, Callable[[Any], str | None]] = {
    "columns": _columns,
    "classes": _classes,
    "targets": _targets,
    "tree": _tree,
    "rounds": _rounds,
    "trees": _trees,
    "members": _members,
    "score out of bag": _out_of_bag,
    "score out of fold": _out_of_fold,
    "threshold": _threshold,
    "stopped": _stopped,
    "fit time": _fit_time,
}


def _listed(values: Any) -> str:
    shown = [str(value) for value in list(values)[:_MOST_NAMED]]
    return ", ".join(shown) + (
        f" and {len(values) - _MOST_NAMED:,} more" if len(values) > _MOST_NAMED else ""
    )


def facts_html(model: Any) -> str:
    """The facts as lines of HTML without style sheets or scripts; one line for a model that is not fitted."""
    return f'<div style="{_STYLE}">{"<br>".join(_lines(model))}</div>'


def _lines(model: Any) -> Iterator[str]:
    name, facts = escape(type(model).__name__), fitted_facts(model)
    yield f"<b>{name}</b>, {'fitted' if facts else 'not fitted yet'}"
    yield from (f"{escape(label)}: {escape(text)}" for label, text in facts)
