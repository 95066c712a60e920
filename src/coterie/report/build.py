"""From a model and rows to a report: one section after the other, all from the same predictions."""

import warnings
from typing import Any

from coterie._params import Boolean, Instance, Integer
from coterie._seeds import root_seed
from coterie._typing import SeedLike
from coterie.diagnostics.checks import check_choice
from coterie.report.data_quality import data_quality_section
from coterie.report.document import Report
from coterie.report.error_analysis import calibration_section, confusion_section, residuals_section
from coterie.report.evaluated_model import evaluated_model
from coterie.report.feature_effects import column_importance, importance_section, partial_dependence_section
from coterie.report.margins_and_diversity import diversity_section, margins_section
from coterie.report.metrics import score_estimates
from coterie.report.provenance import provenance_of
from coterie.report.reproducibility import reproducibility_section
from coterie.report.scores import leaderboard_section, scores_section
from coterie.report.summary import headline_of, summary_section
from coterie.report.thresholds import thresholds_section
from coterie.report.training_curves import training_curves_section
from coterie.report.tree_browser import trees_section


def build(
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    seen: bool | None = None,
    max_rows: int = 5_000,
    n_jobs: int | None = None,
    random_state: SeedLike = 0,
) -> Report:
    """Evaluate a fitted model on some rows, and describe it.

    Parameters
    ----------
    model : a fitted classifier or regressor of one target, of coterie or of scikit-learn's kind
    X, y : rows and their targets, best those that the model was not fitted to
    title : str, default=None
        None is the name of the model.
    seen : bool, default=None
        Whether the model was fitted to these rows. None: the report infers it where it can.
    max_rows : int, default=5000
        The most rows that are used. Of more rows a random sample is drawn, and the report says so.
    n_jobs : int, default=None
        How many columns are evaluated in parallel; the result is the same.
    random_state : int, RandomState, Generator or None, default=0
        The seed of samples and permutations. The same seed gives the same report, byte for byte.

    Returns
    -------
    Report
        `save("report.html")` writes a page that opens without a network; `.txt`, `.md` and `.json` hold the same.

    Notes
    -----
    Scores on training rows are too optimistic. A committee keeps its out-of-fold predictions for them; forests,
    bagging and boosting keep out-of-bag predictions. The scores of these stand beside those on the rows given here.
    Sections that do not apply are left out, and the report says why.

    Examples
    --------
    >>> from coterie import RandomForestClassifier, report
    >>> from coterie.datasets import load_table
    >>> X, y = load_table("wine")
    >>> found = report.build(RandomForestClassifier(30, random_state=0).fit(X, y), X, y, title="Wine")
    >>> found
    Report('Wine', 13 sections)
    >>> found.is_out_of_sample
    True
    """
    check_choice("title", title, Instance(str), None)
    check_choice("seen", seen, Boolean(), None)
    check_choice("max_rows", max_rows, Integer(10))
    seed = root_seed(random_state) >> 1
    with warnings.catch_warnings():
        # Members of scikit-learn complain about names of columns that a committee has already checked.
        warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")
        return _built(model, X, y, title, seen, max_rows, n_jobs, seed)


def _built(
    model: Any,
    X: Any,
    y: Any,
    title: str | None,
    seen: bool | None,
    max_rows: int,
    n_jobs: int | None,
    seed: int,
) -> Report:
    evaluated = evaluated_model(model, X, y, max_rows=max_rows, n_jobs=n_jobs, seed=seed)
    provenance = provenance_of(evaluated, seen)
    n_classes = None if evaluated.classes is None else len(evaluated.classes)
    on_rows = score_estimates(evaluated.predictions, n_classes, seed=seed)
    kept = provenance.predictions
    out_of_sample = [] if kept is None else score_estimates(kept, n_classes, seed=seed)
    where, headline = headline_of(evaluated, provenance, on_rows, out_of_sample)
    predictions = evaluated.predictions if kept is None or provenance.seen is False else kept
    importance = column_importance(evaluated)
    options = {name: value for name, value in (("title", title), ("seen", seen)) if value is not None}
    sections = (
        summary_section(evaluated, provenance, on_rows, out_of_sample),
        leaderboard_section(evaluated, where, headline),
        scores_section(provenance, on_rows, out_of_sample),
        thresholds_section(evaluated, predictions, where),
        calibration_section(evaluated, predictions, where),
        residuals_section(evaluated, predictions, where),
        confusion_section(evaluated, predictions, where),
        importance_section(evaluated, importance, provenance.seen),
        partial_dependence_section(evaluated, importance),
        training_curves_section(evaluated),
        margins_section(evaluated, provenance),
        diversity_section(evaluated, provenance),
        trees_section(evaluated),
        data_quality_section(evaluated),
        reproducibility_section(evaluated, options),
    )
    return Report(
        title=title or evaluated.name,
        model=evaluated.name,
        task=evaluated.task,
        seen=provenance.seen,
        out_of_sample_source=provenance.source,
        scores=tuple(on_rows),
        out_of_sample_scores=tuple(out_of_sample),
        sections=sections,
    )
