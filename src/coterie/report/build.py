"""From a model and rows to a report: one section after the other, each from what was asked once."""

import warnings
from typing import Any

from coterie._params import Flag, Instance, Whole
from coterie._seeds import root_seed
from coterie._typing import SeedLike
from coterie.diagnostics.checks import check_choice
from coterie.report.columns import dependences, importances, measured_columns
from coterie.report.curves import curves
from coterie.report.document import Report
from coterie.report.health import health
from coterie.report.honest import honesty_of
from coterie.report.measures import measured
from coterie.report.members import members, sureness
from coterie.report.mistakes import calibrated, confusion, residuals
from coterie.report.ranking import ranking
from coterie.report.reproduce import reproduce
from coterie.report.scores import scores
from coterie.report.subject import subject_of
from coterie.report.summary import headline_of, summary
from coterie.report.thresholds import thresholds
from coterie.report.tree_browser import trees

__all__ = ["build"]


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
    """Look at a fitted model from all sides, and write it down.

    Parameters
    ----------
    model : a fitted classifier or regressor of one target, of coterie or of scikit-learn's kind
    X, y : rows and their targets, best those that fit did not see
    title : str, default=None
        None is the name of the model.
    seen : bool, default=None
        Whether fit saw these rows. None: the report says what the model knows about that.
    max_rows : int, default=5000
        The most rows that are looked at. Of more, some are drawn, and the report says so.
    n_jobs : int, default=None
        How many columns are measured side by side; the result is the same.
    random_state : int, RandomState, Generator or None, default=0
        The seed of what is drawn. With the same seed, the same report, byte for byte.

    Returns
    -------
    Report
        `save("report.html")` writes a page that opens without a network; `.txt`, `.md` and `.json` hold the same.

    Notes
    -----
    Scores on rows that fit saw are too good. A committee keeps what it said of them out of fold; forests, bagging and
    boosting keep it out of bag. Such scores stand beside those on the rows given here. Sections that do not
    apply are left out, and the report says why.

    Examples
    --------
    >>> from coterie import RandomForestClassifier, report
    >>> from coterie.datasets import load_table
    >>> X, y = load_table("wine")
    >>> found = report.build(RandomForestClassifier(30, random_state=0).fit(X, y), X, y, title="Wine")
    >>> found
    Report('Wine', 13 sections)
    >>> found.honest
    True
    """
    check_choice("title", title, Instance(str), None)
    check_choice("seen", seen, Flag(), None)
    check_choice("max_rows", max_rows, Whole(10))
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
    subject = subject_of(model, X, y, max_rows=max_rows, n_jobs=n_jobs, seed=seed)
    honesty = honesty_of(subject, seen)
    n_classes = None if subject.classes is None else len(subject.classes)
    on_rows = measured(subject.answers, n_classes, seed=seed)
    kept = [] if honesty.answers is None else measured(honesty.answers, n_classes, seed=seed)
    where, headline = headline_of(subject, honesty, on_rows, kept)
    believed = kept and honesty.seen is not False and honesty.answers is not None
    answers = honesty.answers if believed and honesty.answers is not None else subject.answers
    worth = measured_columns(subject)
    options = {name: value for name, value in (("title", title), ("seen", seen)) if value is not None}
    sections = (
        summary(subject, honesty, on_rows, kept),
        ranking(subject, where, headline),
        scores(honesty, on_rows, kept),
        thresholds(subject, answers, where),
        calibrated(subject, answers, where),
        residuals(subject, answers, where),
        confusion(subject, answers, where),
        importances(subject, worth, honesty.seen),
        dependences(subject, worth),
        curves(subject),
        sureness(subject, honesty),
        members(subject, honesty),
        trees(subject),
        health(subject),
        reproduce(subject, options),
    )
    return Report(
        title=title or subject.name,
        model=subject.name,
        task=subject.task,
        seen=honesty.seen,
        source=honesty.source,
        scores=tuple(on_rows),
        honest_scores=tuple(kept),
        sections=sections,
    )
