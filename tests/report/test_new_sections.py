"""What the sections show is what the definition, scikit-learn or scipy says."""

import json
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

import coterie
from coterie import report
from coterie.data.prepare import read_table
from coterie.datasets import make_messy
from coterie.report import TableProfile, profile_of
from coterie.report.columns.drift import chi_squared_p, drift_of, holm
from coterie.report.columns.shap_summary import mean_sizes, swarm_offsets
from coterie.report.errors.row_errors import row_errors
from coterie.report.errors.weak_slices import weak_slices
from coterie.report.evaluated_model import Predictions
from coterie.report.scores.class_curves import class_areas
from coterie.report.scores.gain_and_lift import cumulative_gain
from coterie.report.scores.thresholds import cheapest_place, total_costs
from tests.helpers.reports import fitted, report_of


def section_of(found: Any, key: str) -> dict[str, Any]:
    return next(own for own in found.to_dict()["sections"] if own["key"] == key)


def tables_of(found: Any, key: str) -> list[dict[str, Any]]:
    return [block for block in section_of(found, key)["blocks"] if block["kind"] == "table"]


def test_areas_of_each_class_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    proba = rng.dirichlet(np.ones(3), 300).round(1)  # with ties
    found = Predictions(y, proba.argmax(axis=1), proba)

    for code in range(3):
        auc, precision = class_areas(found, code)
        assert auc == pytest.approx(roc_auc_score(y == code, proba[:, code]))
        assert precision == pytest.approx(average_precision_score(y == code, proba[:, code]))


def test_the_mean_area_of_the_classes_is_the_auc_of_the_scores() -> None:
    found = report_of("forest")

    areas = [row[2] for row in tables_of(found, "class_curves")[0]["rows"]]

    scores = found.to_dict()["out_of_sample_scores"]
    assert np.mean(areas) == pytest.approx(scores["auc"]["value"])


def test_gain_is_the_mean_over_random_orders_of_equal_scores() -> None:
    rng = np.random.default_rng(1)
    score, positive = rng.integers(4, size=40) / 4, rng.random(40) < 0.4
    shares = np.linspace(0.1, 1, 10)

    slow = np.zeros(10)
    for _ in range(4000):
        order = rng.permutation(40)
        order = order[np.argsort(-score[order], kind="stable")]
        slow += np.array([positive[order[: round(40 * share)]].sum() for share in shares])

    assert cumulative_gain(score, positive, shares) == pytest.approx(slow / 4000 / positive.sum(), abs=0.01)


def test_the_cheapest_threshold_is_that_of_a_search() -> None:
    found = report_of("two")
    counts = next(own for own in section_of(found, "thresholds")["blocks"] if own["kind"] == "thresholds")
    model, _, _ = fitted("two")
    truth, score = model.held_out_predictions().truth, model.oof_proba_[:, 1]
    table = tables_of(found, "thresholds")[1]

    for false_positive, false_negative, best, per_thousand, _ in table["rows"]:
        slow = []
        for threshold in counts["thresholds"]:
            _, wrong, missed, _ = confusion_matrix(truth, score >= threshold, labels=[0, 1]).ravel()
            slow.append(float(false_positive) * wrong + float(false_negative) * missed)
        assert slow[counts["thresholds"].index(float(best))] == min(slow)
        assert float(per_thousand.replace(",", "")) == pytest.approx(1000 * min(slow) / len(truth), abs=0.051)


def test_of_equal_costs_the_middle_of_the_first_run_is_taken() -> None:
    assert cheapest_place(np.array([3.0, 1.0, 1.0, 1.0, 2.0, 1.0])) == 2
    assert cheapest_place(np.array([0.0, 5.0])) == 0


def test_costs_are_counts_times_prices() -> None:
    counts = report_of("two").sections[3].blocks[3]
    expected = [
        2 * wrong + 7 * missed
        for wrong, missed in zip(counts.false_positives, counts.false_negatives, strict=True)
    ]
    assert total_costs(counts, 2.0, 7.0).tolist() == expected


def test_a_threshold_has_a_command() -> None:
    found = report.build(*fitted("two"), commands=["coterie predict model.coterie new.csv -o answers.csv"])

    command = section_of(found, "thresholds")["blocks"][3]["command"]

    assert command == "coterie predict model.coterie new.csv -o answers.csv --threshold {threshold}"
    assert section_of(found, "reproducibility")["blocks"][-1]["language"] == "shell"


@pytest.mark.parametrize("seed", range(5))
def test_the_test_of_drift_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before, now = rng.integers(20, 90, 8), rng.integers(20, 90, 8)

    assert chi_squared_p(before, now) == pytest.approx(
        chi2_contingency([before, now], correction=False).pvalue
    )


def test_small_cells_are_put_together() -> None:
    before, now = np.array([100, 60, 3, 2, 0]), np.array([80, 70, 1, 4, 0])

    slow = chi2_contingency([[100, 60, 5], [80, 70, 5]], correction=False).pvalue

    assert chi_squared_p(before, now) == pytest.approx(slow)


def test_holm_is_its_definition() -> None:
    p_values = np.random.default_rng(0).random(12) ** 4
    slow = np.array(
        [
            min(1.0, max((12 - int((p_values < each).sum())) * each for each in p_values[p_values <= own]))
            for own in p_values
        ]
    )
    assert holm(p_values) == pytest.approx(slow)


def test_columns_that_moved_are_found_and_no_others() -> None:
    X, _ = make_messy(2000, n_streets=12, random_state=0)
    later, _ = make_messy(1000, n_streets=12, random_state=1)
    X, later = ({name: held[name] for name in held if name != "serial"} for held in (X, later))
    later["area"] = later["area"] + 60
    later["town"] = np.where(np.arange(1000) % 3 == 0, "Utrecht", later["town"])

    found = drift_of(profile_of(read_table(X)), read_table(later))

    assert {own.name for own in found if own.is_changed} == {"area", "town"}
    assert next(own for own in found if own.name == "town").words.startswith("more often another label")
    assert not any(own.is_changed for own in drift_of(profile_of(read_table(X)), read_table(X)))


def test_a_report_compares_with_the_rows_of_the_fit() -> None:
    X, y = make_messy(400, random_state=0)
    model = coterie.RandomForestClassifier(10, random_state=0).fit(X, y)
    later = {**X, "rooms": X["rooms"] + 5}

    found = model.report(later, y, seen=False, reference=X)

    [table] = tables_of(found, "drift")
    assert [row[0] for row in table["rows"] if row[3] == "changed"] == ["rooms"]
    assert "1 column of 9 has changed since the fit: “rooms”" in " ".join(found.text().split())


def test_a_profile_is_small_and_survives_its_text() -> None:
    rng = np.random.default_rng(0)
    X = {f"c{place}": rng.normal(size=500) for place in range(400)}
    X["town"] = rng.choice([f"town {number}" for number in range(200)], 500).astype(object)

    held = profile_of(read_table(X))

    assert TableProfile.of_json(held.to_json()) == held
    assert len(held.columns) == 300
    assert len(held.to_json()) < 200 * 300
    assert TableProfile.of_json("{}") is None
    assert TableProfile.of_json('{"format":1,"n_rows":3,"columns":[["a",[1],null,[1]]]}') is None


def test_counts_of_a_profile_are_those_of_a_loop() -> None:
    values = np.random.default_rng(0).normal(size=300)
    values[:20] = np.nan
    [own] = profile_of(read_table({"a": values})).columns

    ends = [-np.inf, *own.cuts, np.inf]
    slow = [int(((values >= low) & (values < high)).sum()) for low, high in pairwise(ends)]

    assert list(own.counts) == [*slow, 20]


def test_a_planted_slice_is_found_and_measured_without_the_rows_that_found_it() -> None:
    rng = np.random.default_rng(0)
    age, town = rng.uniform(18, 90, 3000), rng.choice(["Oslo", "Rome", "Cork"], 3000).astype(object)
    bad = (age > 60) & (town == "Rome")
    errors = np.abs(rng.normal(size=3000)) + 3 * bad

    slices, measuring = weak_slices(
        read_table({"age": age, "town": town}), ["age", "town"], errors, frozenset(), 0
    )

    worst = slices[0]
    assert set(worst.words.split(" and ")) >= {"town is “Rome”"}
    assert "age is above" in worst.words
    assert set(worst.rows) <= set(measuring)
    assert len(measuring) == 1500
    assert bad[worst.rows].mean() > 0.9
    own = errors[worst.rows]
    assert worst.error == pytest.approx(own.mean())
    assert worst.low < own.mean() < worst.high
    assert worst.low > errors[measuring].mean()


def test_words_of_a_slice_hold_for_its_rows_and_for_no_other() -> None:
    rng = np.random.default_rng(3)
    size = rng.normal(size=2000)
    size[rng.random(2000) < 0.1] = np.nan
    errors = np.where(np.isnan(size), 5.0, np.where(size > 1, 2.0, 0.1)) * rng.uniform(0.9, 1.1, 2000)

    slices, measuring = weak_slices(read_table({"size": size}), ["size"], errors, frozenset(), 0)

    by_words = {own.words: set(own.rows.tolist()) for own in slices}
    missing = next(words for words in by_words if "missing" in words)
    assert missing == "size is missing"
    assert by_words[missing] == set(measuring[np.isnan(size[measuring])].tolist())


def test_worst_rows_are_those_with_the_largest_errors() -> None:
    model, X, y = fitted("boosting")
    found = report.build(model, X, y, seen=False)

    loss = -np.log(model.predict_proba(X)[np.arange(len(y)), (y == "yes").astype(int)])
    [table] = tables_of(found, "worst_rows")

    assert [row[0] for row in table["rows"]] == (np.argsort(-loss, kind="stable")[:12] + 1).tolist()


def test_errors_of_rows_are_log_loss_absolute_error_or_zero_and_one() -> None:
    proba = np.array([[0.75, 0.25], [0.5, 0.5]])
    y, predicted = np.array([1, 0]), np.array([0, 0])

    assert row_errors(Predictions(y, predicted, proba), is_regression=False).values == pytest.approx(
        [np.log(4), np.log(2)]
    )
    assert row_errors(Predictions(y, predicted), is_regression=False).values.tolist() == [1.0, 0.0]


def test_sizes_of_shap_values_are_their_mean_absolute_values() -> None:
    model, X, _ = fitted("forest")
    explained = model.explain(X)
    slow = [np.mean([abs(value) for value in explained.values[:, place].ravel()]) for place in range(9)]

    assert mean_sizes(explained) == pytest.approx(slow)
    rows = tables_of(report_of("forest"), "shap_summary")[0]["rows"]
    assert sorted((row[1] for row in rows), reverse=True) == [row[1] for row in rows]
    assert {row[0]: row[1] for row in rows} == pytest.approx(
        dict(zip(explained.column_names, slow, strict=True))
    )


def test_dots_in_one_place_do_not_hide_each_other() -> None:
    offsets = swarm_offsets(np.array([0.0] * 5 + [1.0] * 2), (0.0, 1.0))

    assert len(set(offsets[:5])) == 5
    assert np.abs(offsets).max() < 0.5
    assert np.abs(offsets[5:]).max() < np.abs(offsets[:5]).max()


def test_quantiles_of_the_distributions_are_those_of_numpy() -> None:
    _, X, _ = fitted("numbers")
    numbers = tables_of(report_of("numbers"), "distributions")[0]
    area = np.asarray(X["area"], dtype=np.float64)

    [row] = [row for row in numbers["rows"] if row[0] == "area"]

    wanted = np.nanquantile(area, [0.05, 0.5, 0.95])
    assert [float(cell) for cell in row[3:6]] == pytest.approx(wanted, rel=1e-3)


def test_dates_are_shown_as_dates() -> None:
    [days] = [own for own in tables_of(report_of("numbers"), "distributions") if "date" in own["columns"][0]]

    [row] = [row for row in days["rows"] if row[0] == "sold"]

    assert all(len(cell) == 10 and cell[:2] == "20" and cell[4] == "-" for cell in row[2:])


def test_losses_of_training_rows_and_eval_sets_are_drawn_together() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    sets = {"june": (X[:50], y[:50]), "july": (X[50:100], y[50:100])}
    model = coterie.GradientBoostingRegressor(n_estimators=8, random_state=0)
    model.fit(X[100:], y[100:], eval_set=sets)

    figure = section_of(report.build(model, X[:100], y[:100]), "training_curves")["blocks"][0]

    lines = {line["label"]: line["y"] for line in figure["lines"]}
    assert list(lines) == ["training rows", "june", "july"]
    assert lines["training rows"] == pytest.approx(list(model.train_losses_), rel=1e-4)
    assert lines["june"] == pytest.approx(list(model.eval_losses_["june"]), rel=1e-4)
    best = int(np.argmin(model.eval_losses_["july"])) + 1
    assert f"On july, the set that decides: Lowest after round {best} of 8." in figure["caption"]


def test_flags_are_words_and_texts_are_texts() -> None:
    rng = np.random.default_rng(0)
    X = {
        "lift": rng.random(200) < 0.5,
        "note": np.array([f"a {'quiet' * (place % 5 + 1)} flat, number {place}" for place in range(200)]),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 300, 200),
    }
    y = X["lift"] * 2.0 + rng.normal(size=200) * (1 + 5 * X["lift"])
    found = report.build(coterie.RandomForestRegressor(10, random_state=0).fit(X, y), X, y)

    [columns] = [
        own for own in section_of(found, "summary")["blocks"] if "facts" in own and len(own["facts"]) > 3
    ]
    notes = {fact["label"]: fact["note"] for fact in columns["facts"]}
    assert notes["columns"] == "1 True or False, 1 text, 1 date"
    titles = {
        own["title"]: own for own in section_of(found, "distributions")["blocks"] if own["kind"] == "chart"
    }
    assert set(titles["Distribution of lift"]["names"]) == {"True", "False"}
    assert titles["Distribution of note"]["x"] == "length of note, in characters"
    listed = {row[0]: row[-1] for row in tables_of(found, "distributions")[-1]["rows"]}
    assert listed["note"] == "nearly all different"
    assert re.fullmatch(r"(True|False) \(\d+ %\), (True|False) \(\d+ %\)", listed["lift"])
    kinds = {row[0]: (row[1], row[-1]) for row in tables_of(found, "data_quality")[0]["rows"]}
    assert kinds == {"lift": ("True or False", ""), "note": ("text", ""), "day": ("date", "")}
    curves = {
        own["title"] for own in section_of(found, "partial_dependence")["blocks"] if own["kind"] == "chart"
    }
    assert "Partial dependence on note" not in curves
    assert "lift is True" in json.dumps(section_of(found, "weak_slices"))
    assert set(tables_of(found, "worst_rows")[0]["columns"]) > {"lift", "note", "day"}
