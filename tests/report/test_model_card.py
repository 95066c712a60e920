"""Cards of model files: what they state, what people add, and that nothing in a file becomes markup."""

import re
from pathlib import Path

import numpy as np
import pytest

import coterie
from coterie.errors import InvalidInput, InvalidType
from coterie.report import model_card

RNG = np.random.default_rng(0)
X = {"area": RNG.uniform(20, 140, 200), "town": RNG.choice(["Bonn", "Köln"], 200)}
RENT = 10 * X["area"] + RNG.normal(0, 50, 200)
DEAR = np.where(RENT > 800, "dear", "cheap")


@pytest.fixture
def classifier(tmp_path: Path) -> tuple[coterie.RandomForestClassifier, Path]:
    model = coterie.RandomForestClassifier(20, random_state=0).fit(X, DEAR)
    path = tmp_path / "flats.coterie"
    coterie.save(model, path, notes={"target": "verdict"})
    return model, path


def section(card: str, heading: str) -> str:
    return card.split(f"\n## {heading}\n")[1].split("\n## ")[0].strip()


def test_the_card_states_what_the_file_holds(classifier: tuple[coterie.RandomForestClassifier, Path]) -> None:
    card = model_card(classifier[1])

    assert card.startswith("---\nlibrary_name: coterie\ntags:\n- tabular-classification\n")
    assert "\n# flats\n" in card
    facts = section(card, "Model")
    assert "| class | `coterie.RandomForestClassifier` |" in facts
    assert "| target | verdict |" in facts
    assert "| classes | cheap, dear |" in facts
    assert section(card, "Columns") == "Matched by name: area, town."
    assert "| n\\_estimators | 20 |" in section(card, "Parameters")


def test_the_program_of_the_card_runs(
    classifier: tuple[coterie.RandomForestClassifier, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, path = classifier
    found = re.search(r"```python\n(.*?)```", section(model_card(path), "How to use"), re.DOTALL)
    assert found is not None
    monkeypatch.chdir(path.parent)
    names = {"X": X}
    exec(found[1], names)

    assert (names["model"].predict(X) == model.predict(X)).all()  # type: ignore[attr-defined]


def test_scores_of_a_report_are_shown_with_where_they_are_from(
    classifier: tuple[coterie.RandomForestClassifier, Path],
) -> None:
    model, path = classifier
    report = model.report(X, DEAR, seen=True)
    shown = section(model_card(path, report), "Evaluation")
    accuracy = next(own for own in report.out_of_sample_scores if own.key == "accuracy")

    assert shown.startswith("On the rows of the fit, out of bag:")
    assert (
        f"| {accuracy.label} | {accuracy.value:.4g} | {accuracy.low:.4g} to {accuracy.high:.4g} | ↑ |"
        in shown
    )
    assert "too optimistic" not in shown


def test_what_people_write_takes_the_place_of_the_note_that_it_is_missing(
    classifier: tuple[coterie.RandomForestClassifier, Path],
) -> None:
    path = classifier[1]
    words = {"description": "Flats.", "intended_use": "Offers.", "limitations": "Not in Bonn."}
    card = model_card(path, title="Rents", license_name="bsd-3-clause", authors="A. Nobody", **words)

    assert card.count("To be written") == 1  # the evaluation
    assert model_card(path).count("To be written") == 4
    assert "# Rents\n\nFlats.\n" in card
    assert 'license: "bsd-3-clause"\n' in card
    assert "| authors | A. Nobody |" in card


def test_names_in_a_file_are_text(tmp_path: Path) -> None:
    tree = coterie.DecisionTreeRegressor().fit({"a|b<script>": [1, 2, 3]}, [1.0, 2.0, 3.0])
    path = tmp_path / "tree.coterie"
    coterie.save(tree, path, notes={"target": "# y"})
    card = model_card(path)

    assert "<script>" not in card
    assert "a\\|b&lt;script&gt;" in card
    assert "| target | \\# y |" in card
    assert "- tabular-regression" in card
    assert "classes" not in section(card, "Model")


def test_a_report_of_another_model_is_refused(
    classifier: tuple[coterie.RandomForestClassifier, Path],
) -> None:
    other = coterie.DecisionTreeClassifier().fit(X, DEAR).report(X, DEAR, seen=True)
    with pytest.raises(
        InvalidInput, match="about a DecisionTreeClassifier, and the file holds a RandomForest"
    ):
        model_card(classifier[1], other)
    with pytest.raises(InvalidType, match="expected the result of"):
        model_card(classifier[1], "report")  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="expected the path of a model file"):
        model_card(classifier[0])  # type: ignore[arg-type]
