"""`report`, for every model: a method in a low layer for a package in a high one, imported when it is called.

A class takes it as a method: `report = report_model`.
"""

from importlib import import_module
from typing import Any


def report_model(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    title: str | None = None,
    seen: bool | None = None,
    rows: bool = True,
    reference: Any = None,
    max_rows: int = 5_000,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> Any:
    """A page about this model: scores with confidence intervals, errors, feature importance, data quality.

    Parameters
    ----------
    X, y : rows and their targets, best those that the model was not fitted to; of a scan, which has its targets,
        `max_rows` rows are drawn
    title, seen, rows, reference, max_rows, n_jobs, random_state : as in `coterie.report.build`

    Returns
    -------
    coterie.report.Report
        `save("report.html")` writes one file that opens without a network; `.txt`, `.md` and `.json` hold the same.
    """
    if getattr(X, "is_scan", False):
        X, y = X.sample(max_rows)
    return import_module("coterie.report").build(
        model,
        X,
        y,
        title=title,
        seen=seen,
        rows=rows,
        reference=reference,
        max_rows=max_rows,
        n_jobs=n_jobs,
        random_state=random_state,
    )
