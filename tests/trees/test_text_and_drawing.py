"""Trees to read: as text one can check by eye, and as a picture."""

import doctest
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from coterie.errors import InvalidInput
from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor
from coterie.trees.drawing import _short
from coterie.trees.layout import place_nodes
from tests.helpers.errors import raised

SVG = "{http://www.w3.org/2000/svg}"


def test_a_tree_we_can_draw():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]], dtype=float)
    y = np.array([-1, -1, -1, -1, -1, 1], dtype=float)

    tree = DecisionTreeRegressor().fit(X, y)

    assert tree.to_text() == dedent("""\
        x0 <= 1.5
          leaf -1 (4 rows)
          x1 <= 0.5
            leaf -1 (1 row)
            leaf 1 (1 row)
        """)


def test_categories_and_missing_values_have_words():
    X = {
        "town": ["Cork", "Cork", "Oslo", "Oslo", "Rome", "Rome", None, None],
        "dose": [1.0, 2.0, 1.0, 2.0, np.nan, 3.0, np.nan, 3.0],
    }
    y = ["ill", "ill", "well", "well", "ill", "well", "ill", "well"]

    tree = DecisionTreeClassifier().fit(X, y)

    assert tree.to_text() == dedent("""\
        town is Cork
          leaf ill 100% (2 rows)
          dose is not missing
            leaf well 100% (4 rows)
            leaf ill 100% (2 rows)
        """)


def test_missing_values_that_follow_the_small_ones():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan], [5.0], [6.0]])
    assert DecisionTreeRegressor().fit(X, [0, 0, 0, 0, 9, 9]).to_text() == dedent("""\
        x0 <= 3.5 or missing
          leaf 0 (4 rows)
          leaf 9 (2 rows)
        """)


def test_ordered_categories_keep_their_names_and_numbers_are_classes():
    size = pd.Categorical(["S", "M", "L", "L"], categories=["S", "M", "L"], ordered=True)
    assert DecisionTreeClassifier().fit(pd.DataFrame({"size": size}), [0, 0, 1, 1]).to_text() == dedent("""\
        size <= M
          leaf class 0 100% (2 rows)
          leaf class 1 100% (2 rows)
        """)


def test_of_two_sets_of_categories_the_shorter_one_is_told():
    X = {"town": list("abcdefghij")}
    y = np.array([0.0, 0, 0, 0, 0, 0, 0, 1, 1, 1])
    assert DecisionTreeRegressor().fit(X, y).to_text().startswith("town not in {h, i, j}\n")
    assert DecisionTreeRegressor().fit(X, -y).to_text().startswith("town in {h, i, j}\n")
    many = {"town": [f"t{i:02}" for i in range(30)]}
    text = DecisionTreeRegressor(max_depth=1).fit(many, np.arange(30) % 2).to_text()
    assert text.startswith("town in {t00, t02, t04, t06, t08, 10 more}\n")


def test_a_question_about_a_missing_category_alone():
    text = DecisionTreeRegressor().fit({"town": ["Cork", "Oslo", None, None]}, [0, 0, 9, 9]).to_text()
    assert text.startswith("town is not missing\n  leaf 0 (2 rows)\n")


def test_a_question_about_missing_values_alone():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    assert DecisionTreeRegressor(max_depth=1).fit(X, [0, 0, 9, 9]).to_text() == dedent("""\
        x0 is not missing
          leaf 0 (2 rows)
          leaf 9 (2 rows)
        """)


def test_deep_parts_are_counted_and_names_can_be_given():
    X = np.arange(8.0)[:, None]
    tree = DecisionTreeRegressor().fit(X, X[:, 0])
    assert tree.to_text(["hour"], max_depth=1, decimals=0) == dedent("""\
        hour <= 4
          ... 4 leaves (4 rows)
          ... 4 leaves (4 rows)
        """)


def boxes_of(svg: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter(f"{SVG}rect"))


@pytest.mark.parametrize("max_depth", [None, 1, 3])
def test_boxes_do_not_overlap_and_lie_inside(max_depth):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 3, 120)
    tree = DecisionTreeClassifier(min_samples_leaf=4).fit(X, y)
    svg = str(tree.to_svg(max_depth=max_depth))
    root = ET.fromstring(svg)
    places = sorted(
        (float(box.get("y")), float(box.get("x")), float(box.get("width"))) for box in boxes_of(svg)
    )
    for (y1, x1, width), (y2, x2, _) in pairwise(places):
        assert y1 != y2 or x1 + width <= x2
    assert max(x + width for _, x, width in places) <= float(root.get("width"))
    assert min(x for _, x, _ in places) >= 0
    if max_depth is None:
        assert len(places) == tree.tree_.node_count


def test_a_parent_stands_over_the_middle_of_its_children():
    rng = np.random.default_rng(1)
    tree = DecisionTreeRegressor(max_depth=5).fit(rng.normal(size=(100, 2)), rng.normal(size=100))
    boxes = place_nodes(tree.tree_)
    for box in boxes:
        if box.children:
            left, right = (boxes[child].x for child in box.children)
            assert box.x == pytest.approx((left + right) / 2)


def test_names_are_escaped():
    X = {'a<b & "c"': [0.0, 1.0]}
    tree = DecisionTreeClassifier().fit(X, ["<script>", "&amp;"])
    root = ET.fromstring(str(tree.to_svg()))
    words = {text.text for text in root.iter(f"{SVG}text")}
    assert 'a<b & "c" <= 0.5' in words
    assert "<script> 100%" in words


def test_the_way_of_missing_values_is_dashed():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    svg = str(DecisionTreeRegressor(max_depth=1).fit(X, [0, 0, 9, 9]).to_svg())
    assert svg.count("stroke-dasharray") == 1
    assert "no, missing" in svg
    assert "stroke-dasharray" not in str(DecisionTreeRegressor().fit([[1.0], [2.0]], [0, 1]).to_svg())


def test_one_leaf_and_several_outputs_can_be_drawn():
    assert len(boxes_of(str(DecisionTreeClassifier().fit([[1.0], [1.0]], ["a", "b"]).to_svg()))) == 1
    both = DecisionTreeRegressor().fit([[1.0], [2.0]], [[0, 5], [1, 6]])
    assert "leaf 0, 5 (1 row)" in both.to_text()
    assert len(boxes_of(str(both.to_svg()))) == 3


def test_notebooks_and_files_get_the_same_picture(tmp_path):
    drawing = DecisionTreeClassifier().fit([[1.0], [2.0]], [0, 1]).to_svg()
    drawing.save(tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").read_text(encoding="utf-8") == drawing._repr_svg_() == str(drawing)
    assert repr(drawing).startswith("TreeDrawing(")


def test_the_guide_tells_the_truth():
    guide = Path(__file__).parents[2] / "docs" / "guide" / "decision_tree.md"
    result = doctest.testfile(str(guide), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_way_of_a_row_is_drawn_with_thick_lines() -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(*load_iris(return_X_y=True))
    X = load_iris().data
    for row in (0, 60, 120):
        svg = str(tree.to_svg(row=X[[row]]))
        n_nodes = tree.decision_path(X[[row]]).nnz
        assert svg.count('stroke-width="3"') == 2 * n_nodes - 1  # boxes, and the lines between them
    assert 'stroke-width="3"' not in str(tree.to_svg())
    with raised(InvalidInput, parameter="row", received=2, allowed="a table of one row"):
        tree.to_svg(row=X[:2])


def test_a_cut_branch_counts_all_its_leaves():
    tree = DecisionTreeClassifier().fit(np.arange(8.0)[:, None], [0, 1, 0, 1, 1, 1, 1, 1])
    assert tree.to_text(max_depth=1) == dedent("""\
        x0 <= 2.5
          ... 3 leaves (3 rows)
          leaf class 1 100% (5 rows)
        """)


def test_a_line_of_the_greatest_length_is_not_cut() -> None:
    assert _short("a" * 42) == "a" * 42
    assert _short("a" * 43) == "a" * 41 + "…"
