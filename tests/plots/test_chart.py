"""Axes have round numbers, lines have colours, and labels are text whatever they hold."""

from itertools import pairwise
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.plots._svg import _heatmap, svg_of
from coterie.plots.chart import Axis, Bars, Chart, Heatmap, Line, Points, ticks
from coterie.plots.palette import GRID, colour_of, dashes_of


@settings(max_examples=100, deadline=None, derandomize=True)
@given(low=st.floats(-1e6, 1e6), length=st.floats(1e-3, 1e6))
def test_there_are_about_five_ticks_on_the_axis(low: float, length: float) -> None:
    axis = Axis("x", low, low + length)
    found = ticks(axis)

    assert 2 <= len(found) <= 10
    assert all(axis.low - 1e-6 * length <= value <= axis.high + 1e-6 * length for value in found)
    steps = [after - before for before, after in pairwise(found)]
    assert max(steps) == pytest.approx(min(steps), rel=1e-3)


@pytest.mark.parametrize("high", [2.0, 9.0, 10.0, 57.0, 1000.0, 12345.0])
def test_an_axis_of_logarithms_has_ticks(high: float) -> None:
    found = ticks(Axis("round", 1.0, high, log=True))

    assert found[0] == 1
    assert 2 <= len(found) <= 7
    assert found[-1] <= high


def test_a_label_is_text_also_if_it_looks_like_a_tag() -> None:
    label = '<script>alert("x")</script> & more'
    line = Line(label, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    svg = svg_of(Chart(label, Axis(label, 0, 1), Axis(label, 0, 1), (line,)))
    texts = [element.text for element in ET.fromstring(svg).iter() if element.text]

    assert "<script>" not in svg
    assert label in texts


def test_the_legend_takes_as_many_lines_as_it_needs() -> None:
    lines = tuple(Line(f"a rather long label {i}", np.arange(2.0), np.arange(2.0)) for i in range(9))
    root = ET.fromstring(svg_of(Chart("t", Axis("x", 0, 1), Axis("y", 0, 1), lines)))
    places = [
        (float(text.attrib["x"]), float(text.attrib["y"]))
        for text in root.iter()
        if "label" in (text.text or "")
        if text.tag.endswith("text")
    ]

    assert len({y for _, y in places}) == 3
    assert all(x + 6.2 * 21 < 640 for x, _ in places)


def test_four_lines_differ_also_without_colour() -> None:
    assert len({dashes_of(place) for place in range(4)}) == 4
    assert len({colour_of(place) for place in range(7)}) == 7


def test_positions_follow_the_values() -> None:
    values = np.array([0.0, 0.25, 1.0])
    root = ET.fromstring(
        svg_of(Chart("t", Axis("x", 0.0, 1.0), Axis("y", 0.0, 1.0), points=(Points("p", values, values),)))
    )
    circles = [each for each in root.iter() if each.tag.endswith("circle")][-3:]  # the first is in the legend
    x = np.array([float(each.attrib["cx"]) for each in circles])
    y = np.array([float(each.attrib["cy"]) for each in circles])

    np.testing.assert_allclose((x - x[0]) / (x[2] - x[0]), values, atol=0.001)
    np.testing.assert_allclose((y - y[0]) / (y[2] - y[0]), values, atol=0.001)
    assert x[2] - x[0] > 300
    assert y[0] - y[2] > 150


def test_the_number_of_a_cell_stands_in_its_middle() -> None:
    heatmap = Heatmap("h", np.array([[0.125, 0.5]]), 0.0, 1.0)
    axes = Axis("x", -0.5, 1.5, names=("a", "b")), Axis("y", -0.5, 0.5, names=("c",))
    root = ET.fromstring(svg_of(Chart("t", *axes, heatmap=heatmap)))
    cells = [
        each.attrib
        for each in root.iter()
        if each.tag.endswith("rect") and "x" in each.attrib and float(each.attrib["height"]) > 100
    ]
    numbers = [
        each.attrib for each in root.iter() if each.tag.endswith("text") and each.text in ("0.12", "0.50")
    ]

    for cell, number in zip(cells, numbers, strict=True):
        assert float(number["x"]) == pytest.approx(float(cell["x"]) + float(cell["width"]) / 2, abs=0.5)


@pytest.mark.parametrize(
    ("width", "height", "written"),
    [(34.0, 14.0, True), (33.9, 14.0, False), (34.0, 13.9, False), (99.0, 40.0, True)],
)
def test_a_number_is_written_into_a_cell_that_has_room_for_it(
    width: float, height: float, written: bool
) -> None:
    frame = SimpleNamespace(
        left=0.0,
        right=2 * width,
        top=0.0,
        bottom=2 * height,
        x=lambda value: value * width,
        y=lambda value: value * height,
    )
    svg = "".join(_heatmap(Heatmap("share", np.array([[0.25, np.nan], [0.5, 0.75]]), 0.0, 1.0), frame))  # type: ignore[arg-type]

    assert [f">{number}<" in svg for number in ("0.25", "0.75")] == [written] * 2
    assert "nan" not in svg


def test_bars_have_upright_grid_lines_and_lines_level_ones() -> None:
    bars = Chart("t", Axis("x", 0, 1), Axis("", -0.6, 0.6, names=("a",)), bars=(Bars("", np.array([0.5])),))
    line = Chart("t", Axis("x", 0, 1), Axis("y", 0, 1), (Line("a", np.arange(2.0), np.arange(2.0)),))

    for chart, same in ((bars, ("x1", "x2")), (line, ("y1", "y2"))):
        drawn = [each.attrib for each in ET.fromstring(svg_of(chart)).iter() if each.tag.endswith("line")]
        grid = [own for own in drawn if own["stroke"] == GRID]
        assert grid
        assert all(own[same[0]] == own[same[1]] for own in grid)
