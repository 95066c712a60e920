"""Every plot of a diagnostic shows its numbers in every format: points, bars, heatmaps, bands and faint lines."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.linear_model import LinearRegression

from coterie import (
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.diagnostics import Importance, calibration, diversity, importance
from coterie.errors import InvalidParameter
from coterie.plots import (
    BiasVarianceDisplay,
    BootstrapDisplay,
    CalibrationDisplay,
    DependenceDisplay,
    Display,
    DiversityDisplay,
    ImportanceDisplay,
    KappaErrorDisplay,
    VotersDisplay,
)
from coterie.plots._svg import svg_of
from coterie.plots.chart import Axis, Chart, Heatmap, Line, legend_items
from coterie.plots.palette import shade_of, shades, text_colour_on

mpl.use("Agg")

SVG = "{http://www.w3.org/2000/svg}"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "<in>", "out & about")
TABLE = {"<b>a</b>": X[:, 0], "town": RNG.choice(["Oslo", "Rome", "R&D 'x'"], 150), "c": X[:, 2]}
FOREST = RandomForestClassifier(8, random_state=0).fit(X[:80], Y[:80])
NUMBERS = RandomForestRegressor(5, random_state=0).fit(TABLE, X[:, 0])
DISPLAYS: dict[str, Display] = {
    "stages": BiasVarianceDisplay.from_estimator(
        BaggingRegressor(n_estimators=4), X, X[:, 0], n_repeats=3, stages="all", random_state=0
    ),
    "one stage": BiasVarianceDisplay.from_estimator(
        DecisionTreeRegressor(), X, X[:, 0], n_repeats=3, random_state=0
    ),
    "diversity": DiversityDisplay.from_estimator(FOREST, X[80:], Y[80:]),
    "ambiguity": DiversityDisplay.from_estimator(NUMBERS, TABLE, X[:, 1], measure="distance"),
    "cloud": KappaErrorDisplay.from_estimator(FOREST, X[80:], Y[80:]),
    "bootstrap": BootstrapDisplay.from_estimator(DecisionTreeClassifier(), X, Y, n_repeats=5, random_state=0),
    "voters": VotersDisplay.from_estimator(FOREST, X[80:], Y[80:]),
    "calibration": CalibrationDisplay.from_estimator(FOREST, X[80:], Y[80:], n_bins=5),
    "importance": ImportanceDisplay.from_estimator(NUMBERS, TABLE, X[:, 0], random_state=0),
    "gain": ImportanceDisplay.from_estimator(NUMBERS, method="gain"),
    "dependence": DependenceDisplay.from_estimator(NUMBERS, TABLE, "<b>a</b>", kind="individual"),
    "effect": DependenceDisplay.from_estimator(NUMBERS, TABLE, "c", kind="ale"),
    "levels": DependenceDisplay.from_estimator(NUMBERS, TABLE, "town", kind="individual"),
}


@pytest.fixture(params=DISPLAYS)
def display(request: pytest.FixtureRequest) -> Display:
    return DISPLAYS[request.param]


def test_the_data_is_a_table(display: Display) -> None:
    lengths = {len(column) for column in display.data.values()}

    assert len(lengths) == 1
    assert lengths.pop() >= 1


def test_the_svg_stays_on_its_sheet(display: Display) -> None:
    text = display.to_svg()
    root = ET.fromstring(text)
    chart = display.chart()

    assert "nan" not in text
    assert len(root.findall(f"{SVG}path")) == len(chart.lines)
    n_dots = sum(len(points.x) for points in chart.points)
    n_legend = sum(bool(points.label) for points in chart.points)
    assert len(root.findall(f"{SVG}circle")) == n_dots + n_legend
    for element in root.iter():
        for name in ("x", "x1", "x2", "cx"):
            assert -1 <= float(element.attrib.get(name, 0)) <= 641
        for name in ("y", "y1", "y2", "cy"):
            assert -1 <= float(element.attrib.get(name, 0)) <= 421
    assert root.attrib["aria-label"].startswith(chart.title)


def test_every_name_is_written_as_text(display: Display) -> None:
    texts = {element.text for element in ET.fromstring(display.to_svg()).iter(f"{SVG}text")}
    chart = display.chart()

    assert chart.x.label in texts or not chart.x.label
    assert {item.label for item in legend_items(chart) if item.label} <= texts
    assert set(chart.y.names) <= texts
    assert "<b>" not in display.to_svg()


def test_matplotlib_draws_it(display: Display) -> None:
    figure = display.plot().figure_
    figure.canvas.draw()
    chart = display.chart()

    assert display.ax_.get_xlabel() == chart.x.label
    if chart.x.names:
        assert [text.get_text() for text in display.ax_.get_xticklabels()] == list(chart.x.names)
    box = display.ax_.get_tightbbox()
    assert box.x0 >= 0
    assert box.y0 >= 0
    title = display.ax_.title if display.ax_.get_title() else display.ax_._left_title
    legend = display.ax_.get_legend()
    if legend is not None:
        assert legend.get_window_extent().y1 <= title.get_window_extent().y0 + 1
    plt.close(figure)


def test_vega_lite_is_plain_data(display: Display) -> None:
    spec = json.loads(json.dumps(display.to_vega(), allow_nan=False))

    assert spec["layer"]
    for layer in spec["layer"]:
        rows = layer["data"]["values"]
        fields = {own["field"] for own in layer["encoding"].values() if "field" in own}
        assert all(fields <= row.keys() for row in rows)


def test_the_page_loads_nothing_and_holds_the_numbers(display: Display, tmp_path: Path) -> None:
    display.save(tmp_path / "picture.html")
    page = (tmp_path / "picture.html").read_text(encoding="utf-8")
    numbers = re.search(r'<script type="application/json">(.*?)</script>', page)

    assert numbers is not None
    assert json.loads(numbers[1]).keys() == display.data.keys()
    assert re.findall(r"https?://[^\s\"']+", page) == ["http://www.w3.org/2000/svg"]
    assert len(page) < 100_000
    assert repr(display).startswith(type(display).__name__)


def test_parts_of_the_error_are_lines_or_bars() -> None:
    lines, bars = DISPLAYS["stages"].chart(), DISPLAYS["one stage"].chart()

    assert [line.label for line in lines.lines] == ["error", "bias²", "variance"]
    np.testing.assert_array_equal(lines.lines[0].y, DISPLAYS["stages"].data["error"])
    assert bars.y.names == ("variance", "bias²", "error")
    assert bars.bars[0].length[2] == DISPLAYS["one stage"].data["error"][0]


def test_bars_have_the_length_of_their_numbers() -> None:
    found = Importance(
        "gain", "share", ("a", "b", "c"), np.array([0.2, -0.1, 0.5]), np.array([0.1, 0.0, 0.2])
    )
    root = ET.fromstring(ImportanceDisplay(found).to_svg())
    bars = [own for own in root.findall(f"{SVG}rect") if own.attrib["fill"] == "#0072b2"]
    widths = [float(own.attrib["width"]) for own in bars]

    np.testing.assert_allclose(np.array(widths) / widths[2], [0.2, 0.4, 1], atol=0.01)  # b, a, c upward
    assert float(bars[0].attrib["x"]) < float(bars[2].attrib["x"])
    assert float(bars[0].attrib["y"]) > float(bars[2].attrib["y"])
    assert [mark.x for mark in ImportanceDisplay(found).chart().marks] == [0]


def test_the_most_important_columns_are_shown() -> None:
    found = Importance("split", "number of splits", tuple(f"x{i}" for i in range(30)), np.arange(30.0))
    chart = ImportanceDisplay(found, max_columns=3).chart()

    assert chart.y.names == ("x27", "x28", "x29")
    assert chart.title.endswith("27 more columns are not shown")
    assert len(ImportanceDisplay(found).data["column"]) == 30
    with pytest.raises(InvalidParameter) as raised:
        ImportanceDisplay(found, max_columns=0)
    assert (raised.value.parameter, raised.value.received) == ("max_columns", 0)


def test_the_diagonal_of_a_heatmap_is_empty() -> None:
    values = DISPLAYS["diversity"].chart().heatmap
    assert values is not None
    matrix = values.values[::-1]

    assert np.isnan(np.diag(matrix)).all()
    found = diversity(FOREST, X[80:], Y[80:])
    assert matrix[0, 1] == found.kappa[0, 1]
    written = [own.text for own in ET.fromstring(DISPLAYS["diversity"].to_svg()).iter(f"{SVG}text")]
    assert f"{found.kappa[0, 1]:.2f}" in written
    with pytest.raises(InvalidParameter) as raised:
        DiversityDisplay(found, "margin")
    assert (raised.value.parameter, raised.value.received) == ("measure", "margin")
    assert str(raised.value.allowed).startswith("one of kappa, ")


def test_a_large_forest_has_a_plot_of_a_fair_size() -> None:
    model = RandomForestClassifier(60, random_state=0).fit(X[:80], Y[:80])
    matrix, cloud = (
        kind.from_estimator(model, X[80:], Y[80:]) for kind in (DiversityDisplay, KappaErrorDisplay)
    )

    assert matrix.chart().title.endswith(" of 40 of 60 members")
    assert len(matrix.data["kappa"]) == 1600
    assert len(cloud.data["kappa"]) == 600


def test_clouds_of_several_ensembles_have_colours_of_their_own() -> None:
    found = diversity(FOREST, X[80:], Y[80:])
    display = KappaErrorDisplay({"one": found, "two": found})
    layers = display.to_vega()["layer"]

    assert [points.label for points in display.chart().points] == ["one", "two"]
    assert len(set(layers[0]["encoding"]["color"]["scale"]["range"])) == 2
    assert layers[0]["encoding"]["color"]["scale"] == layers[1]["encoding"]["color"]["scale"]
    assert repr(display) == "KappaErrorDisplay(56 pairs)"
    ambiguity = diversity(NUMBERS, TABLE, X[:, 0])
    with pytest.raises(InvalidParameter) as raised:
        KappaErrorDisplay(ambiguity)  # type: ignore[arg-type]
    assert (raised.value.parameter, raised.value.received) == ("result", ambiguity)
    assert raised.value.allowed == "the Diversity of an ensemble of classifiers"


def test_intervals_of_a_calibration_curve_are_drawn() -> None:
    found = calibration(FOREST, X[80:], Y[80:], n_bins=5)
    chart = CalibrationDisplay({"forest": found}, label="out & about").chart()
    points = chart.points[0]

    np.testing.assert_array_equal(points.low, found.main.low)
    assert points.label == f"forest, calibration error {found.main.expected_error:.3f}"
    assert chart.lines[0].faint


def test_a_bootstrap_has_intervals_and_a_mark() -> None:
    chart = DISPLAYS["bootstrap"].chart()
    found: Any = DISPLAYS["bootstrap"]

    assert chart.y.names == ("leave-one-out", ".632+", ".632", "apparent")
    assert chart.bars[0].spread is not None
    assert chart.bars[0].spread[0] == pytest.approx(1.96 * found.result.standard_errors["leave_one_out"])
    assert chart.x.label == "error rate"


def test_single_rows_are_faint_and_not_too_many() -> None:
    lines = DISPLAYS["dependence"].chart().lines

    assert [line.faint for line in lines].count(True) == 60
    assert lines[0].label == "mean of all rows"
    assert len(DISPLAYS["levels"].chart().points[0].x) == 3
    assert DISPLAYS["levels"].chart().x.names == ("Oslo", "R&D 'x'", "Rome")


def test_long_names_lean_and_are_cut() -> None:
    table = {
        "town": np.array([f"a town with a long name {i % 9}" for i in range(90)]),
        "c": RNG.normal(size=90),
    }
    model = RandomForestRegressor(3, random_state=0).fit(table, table["c"])
    text = DependenceDisplay.from_estimator(model, table, "town").to_svg()

    assert "rotate(-35)" in text
    assert "rotate(-35)" not in DISPLAYS["levels"].to_svg()
    figure = DependenceDisplay.from_estimator(model, table, "town").plot().figure_
    assert figure.axes[0].get_xticklabels()[0].get_rotation() == 35
    plt.close(figure)


def test_a_band_is_drawn_in_every_form() -> None:
    x = np.arange(3.0)
    line = Line("mean", x, x, low=x - 0.5, high=x + 0.5)
    chart = Chart("Band", Axis("x", 0, 2), Axis("y", -1, 3), (line,))

    class Banded(Display):
        @property
        def data(self) -> dict[str, Any]:
            return {"x": x}

        def chart(self) -> Chart:
            return chart

    root = ET.fromstring(svg_of(chart))
    corners = root.find(f"{SVG}polygon")
    assert corners is not None
    assert len(corners.attrib["points"].split()) == 6
    area = Banded().to_vega()["layer"][1]
    assert area["mark"]["type"] == "area"
    assert [row["high"] for row in area["data"]["values"]] == [0.5, 1.5, 2.5]
    figure = Banded().plot().figure_
    assert len(figure.axes[0].collections) == 1
    plt.close(figure)


def test_colours_of_numbers_can_be_read() -> None:
    assert shade_of(0.5, 0, 1) == "#80b8d8"
    assert len(set(shades(-1, 1))) == 17
    assert text_colour_on(0.9, 0, 1) != text_colour_on(0.1, 0, 1)
    heatmap = Heatmap("m", np.array([[np.nan, 0.5], [0.2, np.nan]]), 0.0, 1.0)
    names = ("a", "b")
    text = svg_of(
        Chart("t", Axis("", -0.5, 1.5, names=names), Axis("", -0.5, 1.5, names=names), heatmap=heatmap)
    )
    assert "0.50" in text
    assert text.count("<rect") == 1 + 2 + 17  # the sheet, two cells, the scale


def test_a_display_of_a_known_model() -> None:
    model = LinearRegression().fit(X, X[:, 0] * 2)
    found = importance(model, X, X[:, 0] * 2, random_state=0)

    assert ImportanceDisplay(found).chart().y.names[-1] == "x0"
    line = DependenceDisplay.from_estimator(model, X, 0).chart().lines[0]
    np.testing.assert_allclose(np.diff(line.y) / np.diff(line.x), 2)
