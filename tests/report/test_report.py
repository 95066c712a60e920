"""A report has the sections that its model allows, says why others are missing, and is the same in all its forms."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import report
from coterie.errors import CoterieError, InvalidInput, InvalidParameter, InvalidType
from coterie.report.model import margins_and_diversity, reproducibility, tree_browser
from tests.helpers.reports import N_ROWS, fitted, report_of

ALL = [
    "summary",
    "leaderboard",
    "scores",
    "thresholds",
    "class_curves",
    "gain_and_lift",
    "calibration",
    "residuals",
    "confusion_matrix",
    "worst_rows",
    "weak_slices",
    "distributions",
    "drift",
    "feature_importance",
    "shap_summary",
    "partial_dependence",
    "training_curves",
    "margins",
    "diversity",
    "trees",
    "data_quality",
    "reproducibility",
]
CURVES = {"thresholds", "class_curves", "gain_and_lift"}
LEFT_OUT = {
    "two": {"class_curves", "residuals", "training_curves", "trees"},  # all weight is on the linear member
    "three": {"thresholds", "gain_and_lift", "residuals", "training_curves"},
    "numbers": CURVES | {"calibration", "confusion_matrix", "training_curves", "margins"},
    "boosting": {"class_curves", "residuals", "diversity"},
    "forest": {"thresholds", "gain_and_lift", "residuals"},
    "tree": CURVES | {"calibration", "confusion_matrix", "training_curves", "margins", "diversity"},
    "adaboost": {"class_curves", "residuals", "trees"},
    "voting": {"class_curves", "residuals", "training_curves", "margins", "trees"},
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_sections_are_those_that_apply(name: str) -> None:
    found = report_of(name)

    assert [section.key for section in found.sections] == ALL
    without_shap = set() if hasattr(fitted(name)[0], "explain") else {"shap_summary"}
    assert {section.key for section in found.left_out} == LEFT_OUT[name] | {"drift"} | without_shap
    assert all(section.blocks for section in found.shown)
    assert all(len(section.reason) > 10 and section.reason.endswith(".") for section in found.left_out)


@pytest.mark.parametrize("name", LEFT_OUT)
def test_every_format_holds_the_same_sections(name: str, tmp_path: Path) -> None:
    found = report_of(name)
    for ending in ("html", "txt", "md", "json"):
        found.save(tmp_path / f"report.{ending}")

    plain = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    page, text, marked = (
        (tmp_path / f"report.{ending}").read_text(encoding="utf-8") for ending in ("html", "txt", "md")
    )

    assert plain == found.to_dict()
    assert [own["key"] for own in plain["sections"]] == [own.key for own in found.shown]
    for section in found.shown:
        assert f'<section id="{section.key}"' in page
        assert f"\n{section.title}\n---" in text
        assert f"## {section.title}\n" in marked
    for section in found.left_out:
        assert section.title in page
        assert f"{section.title}: " in text
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        f"report.{ending}" for ending in ("html", "json", "md", "txt")
    ]


def test_the_same_inputs_give_the_same_bytes() -> None:
    model, X, y = fitted("three")

    first, second = report.build(model, X, y), report.build(model, X, y)

    assert first.html() == second.html() == report_of("three").html()
    assert first.text() == second.text()


def test_every_chart_is_in_the_page_with_its_description() -> None:
    page = report_of("two").html()
    places = re.findall(r'data-chart="(\d+)" role="img" aria-label="([^"]+)"', page)
    data = json.loads(page.split('id="report-data">')[1].split("</script>")[0])

    assert len(data["charts"]) == len(places) >= 10
    assert [int(number) for number, _ in places] == list(range(len(places)))
    assert all(len(words) > 5 for _, words in places)


def test_a_committee_recognises_its_rows() -> None:
    model, X, y = fitted("two")

    own, others = report_of("two"), report.build(model, X[:80], y[:80])

    assert own.seen is True
    assert own.out_of_sample_source == others.out_of_sample_source == "out of fold"
    assert others.seen is None
    assert [score.value for score in own.out_of_sample_scores] == [
        score.value for score in others.out_of_sample_scores
    ]
    accuracy = {score.key: score.value for score in own.out_of_sample_scores}["accuracy"]
    predicted = model.classes_[model.oof_proba_.argmax(axis=1)]
    assert accuracy == (predicted == y).mean()
    assert "seems to have been fitted to these rows" in own.text()
    assert "Out of fold, the accuracy of CommitteeClassifier is" in own.text()


def test_a_forest_finds_out_whether_rows_are_its_own() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] > 0
    forest = coterie.RandomForestClassifier(30, random_state=0).fit(X[:150], y[:150])

    own, others = report.build(forest, X[:150], y[:150]), report.build(forest, X[150:], y[150:])

    assert own.seen is True
    assert own.out_of_sample_source == "out of bag"
    accuracy = {score.key: score.value for score in own.out_of_sample_scores}["accuracy"]
    assert accuracy == pytest.approx(forest.oob_score_)
    assert others.seen is None
    assert others.out_of_sample_scores == ()
    assert "It is not known whether the model was fitted to these rows" in others.text()


def test_a_committee_is_not_deceived_by_the_same_targets() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 80)
    X, others = (rng.normal(size=(160, 3)) + (y == "yes")[:, None] for _ in range(2))
    model = coterie.CommitteeClassifier(time_limit=None, portfolio=["linear"], cv=3, random_state=0).fit(X, y)

    assert report.build(model, X, y).seen is True
    assert report.build(model, others, y).seen is None


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_other_rows_in_the_same_order_are_not_taken_for_those_of_fit(task: str) -> None:
    """Two halves of a table sorted by its target: predictions go together, and yet no row is the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    target = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=400)
    order = np.argsort(target)
    X, y = X[order], target[order]
    kind = coterie.RandomForestRegressor
    if task == "classes":
        y, kind = np.digitize(y, [-0.5, 0.5]), coterie.RandomForestClassifier
    model = kind(30, random_state=0).fit(X[::2], y[::2])

    own, others = report.build(model, X[::2], y[::2]), report.build(model, X[1::2], y[1::2])

    assert own.seen is True
    assert "seems to have been fitted to these rows" in own.text()
    assert others.seen is None
    assert others.out_of_sample_scores == ()


def test_the_caller_knows_best_whether_rows_were_seen() -> None:
    model, X, y = fitted("boosting")

    unseen = report.build(model, X, y, seen=False)

    assert unseen.seen is False
    assert unseen.is_out_of_sample
    assert "On these rows, the accuracy of GradientBoostingClassifier is" in unseen.text()
    assert "was not fitted to these rows" in unseen.text()


def test_large_tables_are_sampled_and_it_says_so() -> None:
    model, X, y = fitted("forest")

    found = report.build(model, X, y, max_rows=50)

    assert f"{N_ROWS}  (a random sample of 50 is used)" in found.text()


@pytest.mark.parametrize("estimator", [getattr(coterie, name) for name in coterie.__all__])
def test_every_estimator_has_the_method(estimator: Any) -> None:
    assert not hasattr(estimator, "predict") or callable(estimator.report)


def test_the_method_is_the_function() -> None:
    model, X, y = fitted("tree")

    assert model.report(X, y).html() == report_of("tree").html()


def test_a_notebook_shows_it_in_a_frame_of_its_own() -> None:
    shown = report_of("tree")._repr_html_()

    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert 'sandbox="allow-scripts"' in shown
    assert shown.count("<") == 2


def test_models_of_scikit_learn_are_welcome() -> None:
    from sklearn.svm import SVC

    _, X, y = fitted("voting")

    found = report.build(SVC().fit(X, y), X, y)

    assert {section.key for section in found.left_out} >= {"calibration", "thresholds", "trees"}
    assert "accuracy" in found.to_dict()["scores"]


@pytest.mark.parametrize(
    ("parameter", "received", "error", "allowed"),
    [
        ("title", 3, InvalidParameter, "an instance of str or None"),
        ("seen", "yes", InvalidParameter, "True or False or None"),
        ("max_rows", 1, InvalidParameter, "a whole number >= 10"),
        ("model", "forest", InvalidType, "a fitted classifier or regressor"),
    ],
)
def test_wrong_arguments_are_named(
    parameter: str, received: Any, error: type[CoterieError], allowed: str
) -> None:
    model, X, y = fitted("forest")
    with pytest.raises(error) as raised:
        report.build(**{"model": model, "X": X, "y": y, parameter: received})

    assert (raised.value.parameter, raised.value.received) == (parameter, received)
    assert raised.value.allowed == allowed


@pytest.mark.parametrize(
    ("y", "words"),
    [(["other"] * N_ROWS, "y holds 'other', which is no class of the model"), (None, "target y is None")],
)
def test_targets_that_the_model_does_not_know_are_refused(y: Any, words: str) -> None:
    model, X, _ = fitted("forest")
    with pytest.raises(InvalidInput, match=words):
        report.build(model, X, y)


@pytest.mark.parametrize(("kind", "parameter"), [("Regressor", "y"), ("Classifier", "model")])
def test_several_targets_are_refused(kind: str, parameter: str) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.column_stack([X[:, 0], X[:, 1]])
    y = y if kind == "Regressor" else y > 0
    forest = getattr(coterie, f"RandomForest{kind}")(5).fit(X, y)
    with pytest.raises(InvalidInput, match="A report is about one target") as raised:
        report.build(forest, X, y)

    assert raised.value.parameter == parameter


def test_an_unknown_ending_is_named(tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    with pytest.raises(InvalidParameter) as raised:
        report_of("tree").save(path)

    assert (raised.value.parameter, raised.value.received) == ("path", path)
    assert raised.value.allowed == ".html, .txt, .md, .json"


def test_a_full_disk_leaves_the_older_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.txt"
    path.write_text("older")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        report_of("tree").save(path)

    assert path.read_text() == "older"
    assert [file.name for file in tmp_path.iterdir()] == ["report.txt"]


def test_parameters_of_members_are_not_those_of_the_ensemble() -> None:
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    voting = coterie.VotingClassifier(
        [("tree", coterie.DecisionTreeClassifier(max_depth=2))], voting="soft"
    ).fit(X, y)
    assert "tree__max_depth" not in voting.report(X, y).text()


def test_thresholds_are_of_the_second_class() -> None:
    X, y = np.arange(40.0)[:, None], np.repeat(["no", "yes"], [30, 10])
    text = " ".join(coterie.DecisionTreeClassifier().fit(X, y).report(X, y).text().split())
    assert "best F1 score (1) is at a threshold of" in text
    assert "25 % of rows are “yes”" in text


def test_the_summary_of_three_classes_has_three_scores() -> None:
    X, y = np.arange(60.0)[:, None], np.repeat([0, 1, 2], 20)
    text = coterie.DecisionTreeClassifier().fit(X, y).report(X, y).text()
    scores = re.findall(r"^  (accuracy|ROC AUC|log loss) +[01]  \(", text, re.MULTILINE)
    assert scores == ["accuracy", "ROC AUC", "log loss"]


def test_hard_votes_have_a_report() -> None:
    X = np.arange(80.0).reshape(-1, 2)
    y = np.where(X[:, 0] > 39, "high", "low")
    members = [
        ("tree", coterie.DecisionTreeClassifier()),
        ("forest", coterie.RandomForestClassifier(5, random_state=0)),
    ]
    model = coterie.VotingClassifier(members, voting="hard").fit(X, y)

    text = model.report(X, y).markdown()

    assert "## Partial dependence" in text
    assert "## Diversity of members" in text


@pytest.mark.parametrize(("n_letters", "shown"), [(200, "a" * 198), (201, "a" * 198)])
def test_a_parameter_is_cut_after_200_letters(n_letters: int, shown: str) -> None:
    text = reproducibility._short("a" * (n_letters - 2))

    assert len(text) == 200
    assert text == (f"'{shown}'" if n_letters == 200 else f"'{shown}…")


def test_margins_reach_from_minus_one_to_one() -> None:
    line = margins_and_diversity._steps("m", np.array([-0.5, 0.25]))

    assert line.x.tolist() == [-1.0, -0.5, 0.25, 1.0]
    assert line.y.tolist() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("n_rounds", [3, 8])
def test_the_first_five_trees_of_boosting_are_drawn(n_rounds: int) -> None:
    X = np.arange(100.0).reshape(-1, 1)
    model = coterie.GradientBoostingRegressor(n_estimators=n_rounds, n_folds=1, early_stopping=False).fit(
        X, X[:, 0]
    )

    found = tree_browser._boosted(model)

    assert found is not None
    assert found[0] == n_rounds
    assert len(found[1]) == min(n_rounds, 5)
