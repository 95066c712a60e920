"""Every display shows its numbers in every form, and none of them loads anything."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.ensemble import AdaBoostClassifier

from coterie import GradientBoostingClassifier, RandomForestClassifier
from coterie.diagnostics import Margins, bounds, error_by_round, margins
from coterie.errors import InvalidParameter
from coterie.plots import Display, ErrorBoundDisplay, MarginDisplay, RoundsDisplay

mpl.use("Agg")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 2))
Y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "<in>", "out & about")
MODEL = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X[:80], Y[:80])
DISPLAYS = {
    "margin": MarginDisplay.from_estimator(MODEL, X[:80], Y[:80]),
    "bound": ErrorBoundDisplay.from_estimator(MODEL, X[:80], Y[:80]),
    "rounds": RoundsDisplay.from_estimator(MODEL, X[:80], Y[:80], X[80:], Y[80:]),
}


@pytest.fixture(params=DISPLAYS)
def display(request: pytest.FixtureRequest) -> Display:
    return DISPLAYS[request.param]


def test_the_data_is_a_table_of_numbers(display: Display) -> None:
    lengths = {len(column) for column in display.data.values()}

    assert len(lengths) == 1
    assert "round" in display.data


def test_matplotlib_draws_every_line_with_its_name(display: Display) -> None:
    figure, ax = plt.subplots()
    drawn = display.plot(ax)
    chart = display.chart()

    assert drawn is display
    assert (display.ax_, display.figure_) == (ax, figure)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == [line.label for line in chart.lines]
    for line, own in zip(chart.lines, ax.get_lines(), strict=False):
        np.testing.assert_array_equal(own.get_ydata(), line.y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (chart.x.label, chart.y.label)
    plt.close(figure)


def test_new_axes_are_made_if_none_are_given(display: Display) -> None:
    figure = display.plot().figure_

    assert figure.axes == [display.ax_]
    plt.close(figure)


def test_saving_leaves_no_figure_open(display: Display, tmp_path: Path) -> None:
    before = plt.get_fignums()
    display.save(tmp_path / "picture.png")

    assert plt.get_fignums() == before
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_the_svg_is_a_picture_with_a_path_for_each_line(display: Display, tmp_path: Path) -> None:
    display.save(tmp_path / "picture.svg")
    root = ET.parse(tmp_path / "picture.svg").getroot()
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    paths = root.findall("{http://www.w3.org/2000/svg}path")

    assert len(paths) == len(display.chart().lines)
    for path in paths:
        numbers = np.array(re.findall(r"[MLHV](-?[\d.]+)", path.attrib["d"]), dtype=float)
        assert len(numbers) > 5
        assert (numbers >= 0).all()
        assert (numbers <= max(width, height)).all()
    assert root.attrib["aria-label"].startswith(display.chart().title)


def test_vega_lite_holds_the_same_points(display: Display, tmp_path: Path) -> None:
    display.save(tmp_path / "picture.json")
    spec = json.loads((tmp_path / "picture.json").read_text(encoding="utf-8"))
    values = spec["layer"][0]["data"]["values"]

    assert spec == display.to_vega()
    assert spec["$schema"].endswith("v5.json")
    for line in display.chart().lines:
        own = [row for row in values if row["line"] == line.label]
        assert [row["x"] for row in own] == line.x.tolist()
        assert [row["y"] for row in own] == line.y.tolist()
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert len(scale["domain"]) == len(scale["range"]) == len(display.chart().lines)


def test_the_page_is_small_and_loads_nothing(display: Display, tmp_path: Path) -> None:
    display.save(tmp_path / "picture.html")
    page = (tmp_path / "picture.html").read_text(encoding="utf-8")
    numbers = re.search(r'<script type="application/json">(.*?)</script>', page)

    assert numbers is not None
    assert json.loads(numbers[1]).keys() == display.data.keys()
    assert not re.search(r"\b(src|href)=|url\(|@import", page)
    assert re.findall(r"https?://[^\s\"']+", page) == ["http://www.w3.org/2000/svg"]
    assert len(page) < 100_000


def test_notebooks_get_a_chart_an_svg_and_text(display: Display) -> None:
    bundle = display._repr_mimebundle_()

    assert bundle["application/vnd.vegalite.v5+json"] == display.to_vega()
    assert bundle["image/svg+xml"] == display._repr_html_() == display.to_svg()
    assert bundle["text/plain"] == repr(display)
    assert repr(display).startswith(type(display).__name__)


class Named(RoundsDisplay):
    """A display with words among its numbers."""

    @property
    def data(self) -> dict[str, Any]:
        return {"name": np.array(["</script><b>"]), "error": np.array([np.nan])}


def test_words_and_missing_numbers_are_safe_on_a_page() -> None:
    page = Named([0.1], [0.2]).to_html()
    numbers = re.search(r'<script type="application/json">(.*?)</script>', page)

    assert numbers is not None
    assert json.loads(numbers[1]) == {"name": ["</script><b>"], "error": [None]}
    assert "<b>" not in page


@pytest.mark.parametrize("name", ["picture.pdf", "picture"])
def test_a_file_that_cannot_be_written(display: Display, name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter) as raised:
        display.save(tmp_path / name)

    assert (raised.value.parameter, raised.value.received) == ("path", tmp_path / name)
    assert raised.value.allowed == ".html, .svg, .png, .json"


def test_a_margin_display_has_the_steps_of_the_distribution() -> None:
    found = margins(MODEL, X[:80], Y[:80], rounds=[5, 30])
    display = MarginDisplay.from_margins(found)

    for number in (5, 30):
        own = display.data["round"] == number
        values, shares = found.steps(number)
        np.testing.assert_array_equal(display.data["margin"][own], values)
        np.testing.assert_array_equal(display.data["share"][own], shares)
    line = display.chart().lines[0]
    assert (line.x[0], line.y[0], line.x[-1], line.y[-1]) == (-1, 0, 1, 1)


def test_a_margin_of_minus_one_is_where_its_line_begins() -> None:
    line = MarginDisplay(Margins(np.array([[-1.0, 0.5]]), np.array([1]))).chart().lines[0]

    assert line.x.tolist() == [-1, 0.5, 1]
    assert line.y.tolist() == [0.5, 1, 1]
    assert line.label == "after 1 round"


def test_many_rows_give_a_plot_of_the_same_size() -> None:
    values = np.linspace(-0.5, 0.9, 100_000)[None]
    display = MarginDisplay(Margins(values, np.array([1])))

    assert len(display.data["margin"]) == 600
    assert (display.data["margin"][0], display.data["margin"][-1]) == (-0.5, 0.9)


@pytest.mark.parametrize(
    ("n_rounds", "shown"), [(3, [3]), (30, [5, 30]), (100, [5, 100]), (120, [5, 100, 120])]
)
def test_the_usual_rounds_are_shown(n_rounds: int, shown: list[int]) -> None:
    model = RandomForestClassifier(n_rounds, random_state=0).fit(X, Y)

    assert MarginDisplay.from_estimator(model, X, Y, oob=True).margins.rounds.tolist() == shown
    assert MarginDisplay.from_estimator(model, X, Y, rounds=2).margins.rounds.tolist() == [2]


def test_the_bound_by_the_edge_is_left_out_where_it_does_not_hold() -> None:
    slow = AdaBoostClassifier(n_estimators=5, learning_rate=0.1, random_state=0).fit(X, Y)
    names = [line.label for line in ErrorBoundDisplay.from_bounds(bounds.adaboost(slow, X, Y)).chart().lines]

    assert names == ["training error", "exponential loss"]
    assert len(DISPLAYS["bound"].chart().lines) == 3


def test_a_rounds_display_measures_both_tables() -> None:
    model = GradientBoostingClassifier(n_estimators=6, random_state=0).fit(X[:80], Y[:80])
    display = RoundsDisplay.from_estimator(model, X[:80], Y[:80], X[80:], Y[80:])

    np.testing.assert_array_equal(display.training_error, error_by_round(model, X[:80], Y[:80]))
    np.testing.assert_array_equal(display.test_error, error_by_round(model, X[80:], Y[80:]))


def test_where_the_training_error_reaches_zero_is_marked() -> None:
    assert [mark.x for mark in RoundsDisplay([0.1, 0.0, 0.0], [0.3, 0.2, 0.1]).chart().marks] == [2.0]
    assert RoundsDisplay([0.1, 0.1], [0.3, 0.2]).chart().marks == ()


@pytest.mark.parametrize("late", [False, True])
def test_the_label_of_a_mark_stays_inside_the_plot(late: bool) -> None:
    errors = np.full(100, 0.1)
    errors[90 if late else 1 :] = 0.0
    display = RoundsDisplay(errors, errors + 0.1)
    word = display.to_vega()["layer"][-1]["mark"]
    figure = display.plot().figure_
    figure.canvas.draw()
    box = display.ax_.texts[0].get_window_extent()

    assert word["align"] == ("right" if late else "left")
    assert f'text-anchor="{"end" if late else "start"}" fill="#5b6570">training error' in display.to_svg()
    assert 0 < box.x0 < box.x1 < figure.bbox.width
    plt.close(figure)


def test_one_round_and_unknown_errors_can_be_drawn() -> None:
    display = RoundsDisplay([0.0], [0.0])
    unknown = RoundsDisplay([np.nan, 0.2, 0.1], [np.nan, 0.3, 0.2])

    assert "<path" in display.to_svg()
    assert "nan" not in unknown.to_svg()
    assert [row["x"] for row in unknown.to_vega()["layer"][0]["data"]["values"]] == [2, 3, 2, 3]


@pytest.mark.parametrize("errors", [([0.1], [0.1, 0.2]), ([], []), (0.1, 0.2)])
def test_errors_come_in_pairs(errors: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidParameter) as raised:
        RoundsDisplay(*errors)

    assert (raised.value.parameter, raised.value.received) == ("test_error", errors[1])
    assert raised.value.allowed == "one number for each round"
