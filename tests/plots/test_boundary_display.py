"""Decision regions as a plot: rectangles hold the grid again, and every form has a plot for each stage."""

from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from coterie import AdaBoostClassifier, BaggingClassifier
from coterie.errors import InvalidInput, InvalidParameter
from coterie.plots import BoundaryDisplay
from coterie.plots._svg import svg_of
from coterie.plots.chart import Axis, Chart, Points, Regions
from coterie.plots.palette import colour_of
from coterie.trees import DecisionTreeClassifier

mpl.use("Agg")

X, Y = make_moons(120, noise=0.2, random_state=0)
MODEL = AdaBoostClassifier(n_estimators=10).fit(X, Y)
DISPLAY = BoundaryDisplay.from_estimator(MODEL, X, Y, rounds=[1, 3, 10], resolution=20)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("seed", range(8))
def test_boxes_cover_each_cell_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    place, strength = rng.integers(-1, 2, (9, 7)), rng.choice([0.25, 0.5], (9, 7))
    cells = np.zeros((9, 7, 3))
    for box in Regions(place, strength).boxes():
        cells[box.low : box.high, box.left : box.right] += [1, box.place, box.strength]

    coloured = place >= 0
    np.testing.assert_array_equal(cells[..., 0], coloured)
    np.testing.assert_array_equal(cells[coloured, 1], place[coloured])
    np.testing.assert_array_equal(cells[coloured, 2], strength[coloured])


def test_the_ground_of_the_svg_fills_the_plot_without_gaps() -> None:
    regions = Regions(np.array([[0, 1, 1], [0, 0, 1]]), np.ones((2, 3)))
    empty = Points("", np.zeros(0), np.zeros(0))
    chart = Chart("t", Axis("x", 0, 1), Axis("y", 0, 1), points=(empty, empty), regions=regions)
    paths = [own.attrib for own in ET.fromstring(svg_of(chart)).iter(f"{SVG}path")]
    colours = {own["fill"]: own["d"] for own in paths}

    assert set(colours) == {colour_of(0), colour_of(1)}
    # 62 to 616 in three columns, and two rows; y grows downwards, and the first row is at the bottom.
    left, right = colours[colour_of(0)], colours[colour_of(1)]
    assert left.startswith("M62,366H246.7V")
    assert right.startswith("M246.7,366H616V")


def test_the_data_are_the_shares_of_each_place() -> None:
    data = DISPLAY.data
    cells = np.column_stack([data["x"], data["y"]])[data["stage"] == "after 3 rounds"]
    here = data["stage"] == "after 3 rounds"

    assert {len(column) for column in data.values()} == {3 * 20 * 20}
    np.testing.assert_array_equal(data["class"][here], MODEL.predict(cells, n_rounds=3))
    np.testing.assert_allclose(
        data["share"][here], MODEL.predict_proba(cells, n_rounds=3).max(axis=1), atol=1e-12
    )


def test_every_form_has_a_plot_for_each_stage() -> None:
    root = ET.fromstring(DISPLAY.to_svg())
    inner = root.findall(f"{SVG}g/{SVG}svg")
    figure = DISPLAY.plot().figure_

    assert [own.find(f"{SVG}title").text for own in inner] == [
        "after 1 round",
        "after 3 rounds",
        "after 10 rounds",
    ]
    assert [plot["title"]["text"] for plot in DISPLAY.to_vega()["concat"]] == list(DISPLAY.regions.stages)
    assert [ax.get_title(loc="left") for ax in DISPLAY.ax_] == list(DISPLAY.regions.stages)
    image = DISPLAY.ax_[0].images[0].get_array()
    assert image.shape == (20, 20, 4)
    plt.close(figure)


def test_points_are_the_rows_of_each_class() -> None:
    first, second = DISPLAY.chart().points

    assert (len(first.x), len(second.x)) == (60, 60)
    np.testing.assert_array_equal(np.column_stack([first.x, first.y]), X[Y == 0])


def test_stronger_colours_are_more_certain() -> None:
    chart = DISPLAY.panels()[1]
    share = DISPLAY.regions.shares[1].max(axis=2).ravel()
    strength = chart.regions.strength.ravel()

    np.testing.assert_allclose(strength, 0.06 + 0.49 * (2 * share - 1))


def test_models_beside_each_other() -> None:
    tree = DecisionTreeClassifier().fit(X, Y)
    bagged = BaggingClassifier(n_estimators=10, random_state=0).fit(X, Y)
    display = BoundaryDisplay.from_estimators({"one tree": tree, "bagged": bagged}, X, Y, resolution=10)

    assert display.regions.stages == ("one tree", "bagged")
    for stage, model in enumerate([tree, bagged]):
        alone = BoundaryDisplay.from_estimator(model, X, Y, resolution=10)
        np.testing.assert_array_equal(display.regions.shares[stage], alone.regions.shares[0])


def test_models_of_other_classes_are_refused() -> None:
    other = DecisionTreeClassifier().fit(X, np.where(Y == 1, "a", "b"))
    with pytest.raises(InvalidParameter, match="models hold 'other'"):
        BoundaryDisplay.from_estimators({"one": MODEL, "other": other}, X, Y)


def test_of_many_stages_nine_are_beside_each_other_and_all_are_frames() -> None:
    display = BoundaryDisplay.from_estimator(
        AdaBoostClassifier(n_estimators=20).fit(X, Y), X, rounds="all", resolution=4
    )

    assert len(display.panels()) == 9
    assert len(display.frames()) == len(display.regions.stages) > 9
    assert display.panels()[-1].title == display.regions.stages[-1]


def test_one_stage_has_nothing_to_animate(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput, match="nothing to animate"):
        BoundaryDisplay.from_estimator(MODEL, X, resolution=4).animate(tmp_path / "a.html")


def test_axes_of_matplotlib_are_counted() -> None:
    figure, ax = plt.subplots()
    with pytest.raises(InvalidParameter, match="ax holds 1 axes; expected 3"):
        DISPLAY.plot(ax)
    plt.close(figure)
