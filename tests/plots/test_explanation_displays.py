"""Pictures of explanations and of dependence: what they show, and what they leave out."""

from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from coterie import DecisionTreeClassifier, DecisionTreeRegressor, GradientBoostingRegressor
from coterie.diagnostics import dependence
from coterie.errors import InvalidParameter
from coterie.plots import BeeswarmDisplay, DependenceDisplay, ExplanationDisplay, ImportanceDisplay
from coterie.plots.chart import Axis, Chart, Line, ShadedPoints, date_ticks
from coterie.plots.palette import FAINT, ramp_of

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": np.where(RNG.random(400) < 0.2, np.nan, RNG.normal(size=400)),
        "town": RNG.choice(["Oslo", "Rome", "Cork"], 400),
        "flag": RNG.random(400) < 0.5,
        "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, 400), "D"),
        "<none>": np.ones(400),
    }
)
Y = np.nan_to_num(FRAME["size"], nan=3.0) + FRAME["flag"] + (FRAME["town"] == "Rome")
MODEL = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(FRAME, Y)
EXPLAINED = MODEL.explain(FRAME)


def circles(svg: str) -> list[Any]:
    return [one for one in ET.fromstring(svg).iter() if one.tag.endswith("circle")]


def test_a_beeswarm_has_the_most_important_columns_on_top() -> None:
    display = BeeswarmDisplay(EXPLAINED, max_columns=2)
    by_size = [EXPLAINED.column_names[place] for place in np.argsort(-EXPLAINED.importance)]
    chart = display.chart()

    assert chart.y.names == tuple(by_size[:2][::-1])
    assert (
        chart.title
        == "Contributions in 300 of 400 rows; labels and missing values are grey; 3 more columns are not shown"
    )
    assert len(display.data["column"]) == 5 * 400
    first = EXPLAINED.column_names.index(by_size[0])
    assert_array_equal(display.data["contribution"][:400], EXPLAINED.values[:, first])
    assert len(circles(display.to_svg())) == 600


def test_points_are_coloured_by_the_rank_of_the_value() -> None:
    data = BeeswarmDisplay(EXPLAINED).data
    rank = {name: data["rank"][data["column"] == name] for name in EXPLAINED.column_names}
    known = FRAME["size"].notna().to_numpy()

    assert_array_equal(np.argsort(rank["size"][known]), np.argsort(FRAME["size"][known]))
    assert_array_equal(np.isnan(rank["size"]), ~known)
    assert np.isnan(rank["town"]).all()
    assert_array_equal(rank["flag"], FRAME["flag"].astype(float))
    assert_array_equal(np.argmax(rank["when"]), np.argmax(FRAME["when"]))
    assert_array_equal(rank["<none>"], 0.5)


def test_points_at_the_same_place_lie_beside_each_other() -> None:
    shaded = BeeswarmDisplay(EXPLAINED).chart().shaded
    assert shaded is not None
    of_first = np.abs(shaded.y - 4) < 0.5
    assert np.abs(shaded.y[of_first] - 4).max() <= 0.4 + 1e-9
    assert len(np.unique(shaded.y[of_first])) > 3


def test_a_beeswarm_is_of_one_output() -> None:
    labels = np.array(["a", "b", "c"])[np.digitize(Y, [0.5, 1.5])]
    explained = DecisionTreeClassifier(max_depth=4).fit(FRAME, labels).explain(FRAME)
    assert "probability of c " in BeeswarmDisplay(explained).chart().x.label
    assert "probability of a " in BeeswarmDisplay(explained, 0).chart().x.label
    with pytest.raises(InvalidParameter) as raised:
        BeeswarmDisplay(explained, 3)
    assert raised.value.parameter == "output"
    with pytest.raises(InvalidParameter) as raised:
        BeeswarmDisplay(explained, max_columns=0)
    assert raised.value.parameter == "max_columns"


@pytest.mark.parametrize("display", [BeeswarmDisplay(EXPLAINED), BeeswarmDisplay(EXPLAINED[:1])])
def test_a_beeswarm_in_every_form(display: Any, tmp_path: Any) -> None:
    spec = display.to_vega()
    n_points = sum(
        len(layer["data"]["values"]) for layer in spec["layer"] if layer["mark"]["type"] == "point"
    )
    assert n_points == len(circles(display.to_svg()))
    pytest.importorskip("matplotlib")
    display.save(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5_000


def test_colours_of_shares() -> None:
    assert len({ramp_of(share) for share in np.linspace(0, 1, 30)}) > 25
    assert ramp_of(2.0) == ramp_of(1.0)
    assert ramp_of(float("nan")) == FAINT
    points = ShadedPoints("value", np.zeros(1), np.zeros(1), np.array([np.nan]))
    assert points.low == "low"


def test_bars_of_one_prediction_have_the_colour_of_their_sign() -> None:
    display = ExplanationDisplay(EXPLAINED, row=3)
    increases, decreases = display.chart().bars
    values = [part for _, part in EXPLAINED.for_row(3).contributions[::-1]]
    assert_allclose(increases.length + decreases.length, values)
    assert (increases.length >= 0).all()
    assert (decreases.length <= 0).all()


def test_bars_of_an_explanation_are_its_importance() -> None:
    display = ImportanceDisplay.from_explanation(EXPLAINED)
    assert_allclose(np.sort(display.result.values), np.sort(EXPLAINED.importance))
    assert display.chart().x.label == "mean size of the contribution to the prediction"
    labels = np.where(Y > 1, "yes", "no")
    explained = DecisionTreeClassifier(max_depth=4).fit(FRAME, labels).explain(FRAME)
    one = ImportanceDisplay.from_explanation(explained, 1)
    assert one.chart().x.label == "mean size of the contribution to the probability of yes"
    assert_allclose(one.result.values, np.abs(explained.values[:, :, 1]).mean(axis=0))


def test_missing_values_have_a_level_of_their_own() -> None:
    found = dependence(MODEL, FRAME, ["size", "town", "when"])
    curve = found.of("size")
    without = FRAME.assign(size=np.nan)
    assert curve.missing_average == pytest.approx(MODEL.predict(without).mean())
    assert curve.missing_count == int(FRAME["size"].isna().sum())
    assert found.of("town").missing_average is None
    line = DependenceDisplay(found).chart().lines[1]
    assert line.label == f"where it is missing ({curve.missing_count} rows)"
    assert_array_equal(line.y, [curve.missing_average] * 2)
    assert_allclose(DependenceDisplay(found).data["average"][-1], curve.missing_average)
    assert dependence(MODEL, FRAME, "size", kind="ale").curves[0].missing_average is None
    centred = dependence(MODEL, FRAME, "size", centred=True).curves[0]
    assert centred.missing_average == pytest.approx(curve.missing_average - curve.average[0])


def test_missing_labels_are_the_last_level() -> None:
    frame = pd.DataFrame({"town": ["Oslo", "Rome", None] * 20})
    model = DecisionTreeRegressor().fit(frame, np.tile([1.0, 2.0, 5.0], 20))
    chart = DependenceDisplay.from_estimator(model, frame, "town").chart()
    assert chart.x.names == ("Oslo", "Rome", "missing")
    assert_allclose(chart.points[0].y, [1, 2, 5])
    assert chart.density is not None
    assert_allclose(chart.density.height, 1.0)


def test_the_foot_of_the_plot_says_where_rows_are() -> None:
    X = np.append(np.linspace(0, 1, 300), np.linspace(0.9, 1, 100))[:, None]
    curve = dependence(LinearRegression().fit(X, X[:, 0]), X, 0).curves[0]
    assert curve.histogram.sum() == 400
    assert_array_equal(curve.histogram, np.histogram(X[:, 0], 40, (0, 1))[0])
    density = DependenceDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]), X, 0).chart().density
    assert density is not None
    assert density.height.max() == 1.0
    assert (density.left[0], density.right[-1]) == (0.0, 1.0)


def test_a_line_is_interrupted_where_no_rows_are() -> None:
    X = np.concatenate([np.linspace(0, 1, 60), np.linspace(8, 9, 60), [20.0]])[:, None]
    display = DependenceDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]), X, 0, grid_resolution=200)
    line = display.chart().lines[0]
    parts = [line.x[part] for part in line.parts()]
    assert [(round(part[0], 1), round(part[-1], 1)) for part in parts] == [
        (0.0, 1.0),
        (8.0, 9.0),
        (19.6, 20.4),
    ]
    path = next(one for one in ET.fromstring(display.to_svg()).iter() if one.tag.endswith("path"))
    assert path.attrib["d"].count("M") == 3
    rows = next(layer for layer in display.to_vega()["layer"] if layer["mark"]["type"] == "line")["data"][
        "values"
    ]
    assert {row["part"] for row in rows} == {0, 1, 2}


@pytest.mark.parametrize(("n_values", "n_parts"), [(5, 5), (10, 1)])
def test_a_few_values_are_a_short_line_each(n_values: int, n_parts: int) -> None:
    X = np.tile(np.arange(float(n_values)), 20)[:, None]
    chart = DependenceDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]), X, 0).chart()
    line = chart.lines[0]
    assert len(line.parts()) == n_parts
    assert chart.x.low <= line.x.min()
    assert line.x.max() <= chart.x.high
    steps = Line("", np.arange(3.0), np.arange(3.0), breaks=(0,))
    assert [(part.start, part.stop) for part in steps.parts()] == [(0, 1), (1, 3)]


def test_curves_of_one_result_share_their_vertical_axis() -> None:
    found = dependence(MODEL, FRAME, ["size", "flag"])
    axes = [DependenceDisplay(found, name).chart().y for name in ("size", "flag")]
    assert (axes[0].low, axes[0].high) == (axes[1].low, axes[1].high)
    alone = DependenceDisplay(found, "flag", shared_y=False).chart().y
    assert alone.high - alone.low < axes[0].high - axes[0].low


def test_dates_have_their_own_axis() -> None:
    display = DependenceDisplay.from_estimator(MODEL, FRAME, "when")
    assert display.curve.holds_dates
    chart = display.chart()
    assert chart.x.dates
    texts = [one.text or "" for one in ET.fromstring(display.to_svg()).iter() if one.tag.endswith("text")]
    assert "2021-01" in texts
    assert not dependence(MODEL, FRAME, "size").curves[0].holds_dates


@pytest.mark.parametrize(
    ("first", "last", "texts"),
    [
        (
            "2020-01-30",
            "2020-02-09",
            ["2020-01-31", "2020-02-02", "2020-02-04", "2020-02-06", "2020-02-08"],
        ),
        ("2019-11-15", "2020-04-15", ["2019-12", "2020-01", "2020-02", "2020-03", "2020-04"]),
        ("2000-05-01", "2020-05-01", ["2005", "2010", "2015", "2020"]),
    ],
)
def test_ticks_of_dates_are_round(first: str, last: str, texts: list[str]) -> None:
    low, high = (float(np.datetime64(day, "D").astype(int)) for day in (first, last))
    found = [text for _, text in date_ticks(low, high)]
    assert found == texts
    assert all(low <= day <= high for day, _ in date_ticks(low, high))


def test_a_plot_with_gaps_is_drawn_by_matplotlib() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X = np.append(np.linspace(0, 1, 60), 20.0)[:, None]
    display = DependenceDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]), X, 0).plot()
    assert np.isnan(display.ax_.lines[0].get_xdata()).sum() == 1
    assert len(display.ax_.patches) == 40
    pyplot.close(display.figure_)
    assert Chart("t", Axis("x", 0, 1), Axis("y", 0, 1)).density is None


def test_the_beeswarm_of_a_model_is_that_of_its_explanation() -> None:
    X = np.arange(8.0).reshape(4, 2)
    model = DecisionTreeRegressor().fit(X, X[:, 0])

    display = BeeswarmDisplay.from_estimator(model, X, max_columns=1)

    assert_array_equal(
        display.data["contribution"], BeeswarmDisplay(model.explain(X), max_columns=1).data["contribution"]
    )


def test_days_are_named_up_to_a_million_of_them() -> None:
    assert date_ticks(999_000.0, 1_000_000.0)[0][1].count("-") == 1
