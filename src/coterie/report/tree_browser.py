"""The first trees of the model, drawn, to leaf through."""

from typing import Any

import numpy as np

from coterie._engine import Tree
from coterie.report.content import Drawings, Section, Words
from coterie.report.figures_in_words import plural
from coterie.report.subject import Subject
from coterie.trees.criterion_tree import CriterionTree
from coterie.trees.drawing import draw_tree
from coterie.trees.grown_tree import GrownTree
from coterie.trees.words import TreeWords

__all__ = ["trees"]

_MOST_TREES = 5
_DEPTH = 3


def trees(subject: Subject) -> Section:
    key, title = "trees", "Trees"
    found = _drawn(subject.model, subject)
    if found is None:
        return Section(key, title, why_not=f"{subject.name} has no trees of coterie that could be drawn.")
    whose, total, pictures = found
    text = (
        f"The first {plural(len(pictures), 'tree')} of {total:,}{whose}, down to depth {_DEPTH}; “…” marks what is "
        "below. Yes goes to the left; a dashed line is the way of missing values."
        if total > 1
        else f"The tree{whose}, down to depth {_DEPTH}; “…” marks what is below. Yes goes to the left."
    )
    titles = tuple(f"tree {number}" for number in range(1, len(pictures) + 1))
    return Section(key, title, (Words(text), Drawings(titles, tuple(pictures))))


def _drawn(model: Any, subject: Subject, whose: str = "") -> tuple[str, int, list[str]] | None:
    """Whose trees they are, how many there are, and the first of them."""
    if isinstance(model, CriterionTree):
        return whose, 1, [model.to_svg(max_depth=_DEPTH).svg]
    members = getattr(model, "estimators_", None)
    if members is not None and len(members) and isinstance(members[0], CriterionTree):
        first = [member for member in members[:_MOST_TREES] if isinstance(member, CriterionTree)]
        return whose, len(members), [member.to_svg(max_depth=_DEPTH).svg for member in first]
    boosted = _boosted(model)
    if boosted is not None:
        total, pictures, has_lines = boosted
        lines = "; their leaves also add lines in some columns, which are not drawn" if has_lines else ""
        return f"{whose}, which answer in steps of the score{lines}", total, pictures
    return _of_members(model, subject)


def _of_members(model: Any, subject: Subject) -> tuple[str, int, list[str]] | None:
    """The member with trees that has the largest share."""
    members = list(getattr(model, "estimators_", None) or [])
    shares = getattr(model, "_shares", np.ones(len(members)))
    for place in (
        np.argsort(-np.asarray(shares), kind="stable").tolist() if len(shares) == len(members) else []
    ):
        member = members[place]
        models = getattr(member, "models", [member])
        name = getattr(member, "name", type(member).__name__)
        first = f" of the member “{name}”" + (", first fold" if len(models) > 1 else "")
        found = None if models[0] is model else _drawn(models[0], subject, first)
        if found is not None:
            return found
    return None


def _boosted(model: Any) -> tuple[int, list[str], bool] | None:
    """How many trees gradient boosting has, the first of them, and whether their leaves hold lines."""
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
    pictures, has_lines = [], False
    for place in range(min(_MOST_TREES, len(forest))):
        native = forest.tree(place)
        if native.feature.max(initial=0) >= len(names):
            return None
        has_lines = has_lines or len(native.linear_feature) > 0
        state = native.state()
        state["impurity"] = np.full(native.n_nodes, np.nan)  # gradients have none that a reader knows
        grown = GrownTree(Tree.from_state(state, len(names)), len(names), None)
        pictures.append(draw_tree(grown, words, max_depth=_DEPTH).svg)
    return (len(forest), pictures, has_lines) if pictures else None
