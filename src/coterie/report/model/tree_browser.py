"""Drawings of the first trees of the model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._engine import Tree
from coterie.committee.fold_features import FeaturedModel
from coterie.report.content import Drawings, Paragraph, Section
from coterie.report.evaluated_model import EvaluatedModel
from coterie.report.forms.number_format import plural
from coterie.trees.criterion_tree import BaseDecisionTree
from coterie.trees.drawing import draw_tree
from coterie.trees.grown_tree import GrownTree
from coterie.trees.words import TreeWords

_MOST_TREES = 5
_DEPTH = 2  # so that a whole drawing fits the page


@dataclass(frozen=True)
class _DrawnTrees:
    """The first trees of a model.

    Attributes
    ----------
    total : how many trees there are
    drawings : SVGs of the first of them
    owner : which member they belong to, "" for the model itself
    note : what the leaves hold, a sentence
    """

    total: int
    drawings: tuple[str, ...]
    owner: str = ""
    note: str = ""


def trees_section(evaluated: EvaluatedModel) -> Section:
    key, title = "trees", "Trees"
    if not evaluated.shows_rows:
        reason = "the conditions of trees hold values of single rows (rows=False, or --no-rows)."
        return Section(key, title, reason=reason)
    found = _drawn(evaluated.model, evaluated)
    if found is None:
        return Section(key, title, reason=f"{evaluated.name} has no trees of coterie that can be drawn.")
    drawings = found.drawings
    which = f"The first {plural(len(drawings), 'tree')} of {found.total:,}" if found.total > 1 else "The tree"
    dashed = "; a dashed line is the branch of missing values" if found.total > 1 else ""
    text = (
        f"{which}{found.owner}, down to depth {_DEPTH}; “…” marks nodes with more below them. Rows that meet a "
        f"condition go left{dashed}.{found.note}"
    )
    titles = tuple(f"tree {number}" for number in range(1, len(drawings) + 1))
    return Section(key, title, (Paragraph(text), Drawings(titles, drawings)))


def _drawn(model: Any, evaluated: EvaluatedModel, owner: str = "") -> _DrawnTrees | None:
    """The trees of the model, or of the member with the largest weight that has trees."""
    if isinstance(model, BaseDecisionTree):
        return _DrawnTrees(1, (model.to_svg(max_depth=_DEPTH).svg,), owner)
    members = getattr(model, "estimators_", None)
    if members is not None and len(members) and isinstance(members[0], BaseDecisionTree):
        first = [member for member in members[:_MOST_TREES] if isinstance(member, BaseDecisionTree)]
        drawings = tuple(member.to_svg(max_depth=_DEPTH).svg for member in first)
        return _DrawnTrees(len(members), drawings, owner)
    boosted = _boosted(model)
    if boosted is not None:
        total, svgs, has_linear_leaves = boosted
        linear = "; their linear models are not drawn" if has_linear_leaves else ""
        return _DrawnTrees(total, tuple(svgs), owner, f" Leaves hold raw predictions{linear}.")
    return _of_members(model, evaluated)


def _of_members(model: Any, evaluated: EvaluatedModel) -> _DrawnTrees | None:
    """Of the member with trees that has the largest weight."""
    members = list(getattr(model, "estimators_", None) or [])
    shares = getattr(model, "_shares", np.ones(len(members)))
    for place in (
        np.argsort(-np.asarray(shares), kind="stable").tolist() if len(shares) == len(members) else []
    ):
        member = members[place]
        models = [_inner(each) for each in getattr(member, "models", [member])]
        name = getattr(member, "name", type(member).__name__)
        first = f" of the member “{name}”" + (", first fold" if len(models) > 1 else "")
        found = None if models[0] is model else _drawn(models[0], evaluated, first)
        if found is not None:
            return found
    return None


def _inner(model: Any) -> Any:
    """The model itself, where texts and dates are made into features before it."""
    return model.model if isinstance(model, FeaturedModel) else model


def _boosted(model: Any) -> tuple[int, list[str], bool] | None:
    """How many trees gradient boosting has, the first of them drawn, and whether they have linear leaves."""
    forest, encoder = getattr(model, "forest_", None), getattr(model, "encoder_", None)
    if (
        forest is None
        or encoder is None
        or not hasattr(model, "rounds_")
        or not hasattr(forest, "first_output")
    ):
        return None
    n_features = int(model.n_features_in_)
    made_from = getattr(getattr(model, "statistics_", None), "features", [])
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{i}" for i in range(n_features)])]
    names += ["mean target by " + " and ".join(names[place] for place in own) for own in made_from]
    n_coded = min(n_features, len(encoder.n_levels))
    levels = {
        place: (encoder.levels(place), encoder.codes(place))
        for place in range(n_coded)
        if encoder.levels(place) is not None
    }
    names = [" ".join(name.split()) or repr(name) for name in names]
    words = TreeWords(names, levels, None, np.zeros(len(names), dtype=bool), "", 3)
    drawings, has_linear_leaves = [], False
    for place in range(min(_MOST_TREES, len(forest))):
        native = forest.tree(place)
        if native.feature.max(initial=0) >= len(names):
            return None
        has_linear_leaves = has_linear_leaves or len(native.linear_feature) > 0
        state = native.state()
        state["impurity"] = np.full(native.n_nodes, np.nan)  # gradients have none that a reader knows
        grown = GrownTree(Tree.from_state(state, len(names)), len(names), None)
        drawings.append(draw_tree(grown, words, max_depth=_DEPTH).svg)
    return (len(forest), drawings, has_linear_leaves) if drawings else None
