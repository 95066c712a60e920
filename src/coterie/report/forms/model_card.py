"""A model card in Markdown: what a model file holds, how good the model is, and what people have to say about it."""

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie._params import in_short
from coterie.errors import InvalidInput, InvalidType
from coterie.files import FileSummary, inspect_file
from coterie.report.forms.plain_text import escaped

if TYPE_CHECKING:
    from coterie.report.document import Report

_TO_BE_WRITTEN = "*To be written by whoever publishes the model.*"
_MOST_COLUMNS = 50


def model_card(
    path: str | os.PathLike[str],
    report: "Report | None" = None,
    *,
    title: str | None = None,
    description: str = "",
    intended_use: str = "",
    limitations: str = "",
    license_name: str | None = None,
    authors: str | None = None,
) -> str:
    """A model card, as model hubs and repositories keep one beside a model file.

    It begins with the block of metadata that the Hugging Face Hub reads. Sections that only people can write say so
    until they are given.

    Parameters
    ----------
    path : str or path, of a file that `coterie.save` or `coterie fit` wrote
    report : Report or None
        The evaluation of this model, the result of `model.report(X, y)`: scores with their intervals. Default None: a
        file holds no rows to evaluate the model on.
    title : str or None
        Default None: the name of the file.
    description, intended_use, limitations : str
        Markdown: what the model is for, how it is to be used, and where it is not to be trusted. Default '': the card
        says that it is not written yet.
    license_name : str or None, such as "bsd-3-clause", in the words of the hub
        Default None: you decide about the licence of your model.
    authors : str or None
        Default None: names are published only if you give them.

    Returns
    -------
    str
        Markdown, for `README.md` beside the file.

    Examples
    --------
    >>> import tempfile
    >>> import coterie
    >>> from coterie.report import model_card
    >>> tree = coterie.DecisionTreeRegressor(max_depth=2).fit({"area": [50, 80, 120]}, [1.0, 2.0, 3.0])
    >>> file = Path(tempfile.mkdtemp()) / "rents.coterie"
    >>> coterie.save(tree, file, notes={"target": "rent"})
    >>> card = model_card(file, description="Rents of flats by area.")
    >>> print(card[card.index("# rents") : card.index("## Intended")])
    # rents
    <BLANKLINE>
    Rents of flats by area.
    <BLANKLINE>
    """
    if isinstance(path, bytes) or not isinstance(path, str | os.PathLike):
        raise InvalidType.expecting(f"path={in_short(path)}", "the path of a model file", "path", path)
    summary = inspect_file(path)
    _check_report(report, summary)
    sections = {
        "Intended use": intended_use or _TO_BE_WRITTEN,
        "Model": _facts(summary, authors),
        "Columns": _columns(summary),
        "Evaluation": _TO_BE_WRITTEN if report is None else _evaluation(report),
        "Limitations": limitations or _TO_BE_WRITTEN,
        "How to use": _usage(Path(path).name, summary),
        "Parameters": _parameters(summary),
    }
    lines = [*_metadata(summary, license_name), "", f"# {escaped(title or Path(path).stem)}", ""]
    lines += [description or _TO_BE_WRITTEN, ""]
    for heading, text in sections.items():
        lines += [f"## {heading}", "", text, ""]
    return "\n".join(lines).rstrip() + "\n"


def _check_report(report: Any, summary: FileSummary) -> None:
    if report is None:
        return
    if not hasattr(report, "out_of_sample_scores"):
        raise InvalidType.expecting(
            f"report={in_short(report)}", "the result of model.report(X, y)", "report", report
        )
    if report.model != summary.model:
        raise InvalidInput(
            f"The report is about a {report.model}, and the file holds a {summary.model}.",
            parameter="report",
            received=report.model,
            allowed=f"the report of a {summary.model}",
            hint="Load the file and report on that model: coterie.load(path).report(X, y).",
        )


def _task(summary: FileSummary) -> str:
    return "classification" if summary.classes is not None else "regression"


def _metadata(summary: FileSummary, license_name: str | None) -> list[str]:
    """The block that the hub reads; quoted as JSON is, which YAML reads too."""
    lines = [
        "---",
        "library_name: coterie",
        "tags:",
        f"- tabular-{_task(summary)}",
        "- coterie",
        "- scikit-learn",
    ]
    if license_name is not None:
        lines.append(f"license: {_quoted(license_name)}")
    return [*lines, "---"]


def _quoted(text: str) -> str:
    inside = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'


def _facts(summary: FileSummary, authors: str | None) -> str:
    facts = {
        "class": f"`coterie.{summary.model}`",
        "task": _task(summary),
        "target": escaped(summary.notes["target"]) if "target" in summary.notes else "not noted in the file",
        "columns": "unknown" if summary.n_features is None else f"{summary.n_features:,}",
        "trees": f"{summary.n_trees:,}",
        "file": f"{summary.n_bytes:,} bytes, format {summary.format}",
        "written by": escaped(
            f"coterie {summary.coterie_version}, scikit-learn {summary.scikit_learn_version}"
        ),
    }
    if summary.classes is not None:
        shown = ", ".join(escaped(str(label)) for label in summary.classes[:_MOST_COLUMNS])
        more = len(summary.classes) - _MOST_COLUMNS
        facts["classes"] = shown + (f" and {more:,} more" if more > 0 else "")
    if summary.foreign:
        facts["members of other libraries"] = ", ".join(map(escaped, summary.foreign))
    if authors is not None:
        facts["authors"] = escaped(authors)
    return _table(("", ""), list(facts.items()))


def _columns(summary: FileSummary) -> str:
    names = summary.feature_names
    if names is None:
        return f"{summary.n_features} columns without names, in the order of the fit."
    shown = ", ".join(escaped(str(name)) for name in names[:_MOST_COLUMNS])
    more = len(names) - _MOST_COLUMNS
    return f"Matched by name: {shown}{f' and {more:,} more' if more > 0 else ''}."


def _evaluation(report: "Report") -> str:
    """Scores on rows that the model had not seen come first; others are named for what they are."""
    parts = []
    if report.out_of_sample_scores:
        parts.append(f"On the rows of the fit, {report.out_of_sample_source}:")
        parts.append(_scores(report.out_of_sample_scores))
    if report.seen is False or not report.out_of_sample_scores:
        known = {False: "On new rows:", True: "On the rows of the fit, which is too optimistic:"}
        whether = "On rows of which it is not known whether the fit saw them:"
        parts.append(whether if report.seen is None else known[report.seen])
        parts.append(_scores(report.scores))
    parts.append("Intervals are 95 % confidence intervals by the bootstrap of rows.")
    return "\n\n".join(parts)


def _scores(scores: Any) -> str:
    rows = [
        (
            escaped(own.label),
            f"{own.value:.4g}",
            f"{own.low:.4g} to {own.high:.4g}",
            "↑" if own.greater_is_better else "↓",
        )
        for own in scores
    ]
    return _table(("score", "value", "interval", "better"), rows)


def _usage(name: str, summary: FileSummary) -> str:
    by_class = summary.classes is not None
    method = "predict_proba(X)  # a column for each of model.classes_" if by_class else "predict(X)"
    lines = [
        "```",
        f"pip install 'coterie>={_release(summary)}'",
        "```",
        "",
        "```python",
        "import coterie",
        "",
    ]
    lines += [f"model = coterie.load({name!r})  # data, never code", f"model.{method}", "```"]
    if summary.foreign:
        note = "The file holds members of other libraries, stored by skops. Of these, name the types that you trust:"
        lines += ["", f"{note} `coterie.load(path, trusted=[...])`."]
    return "\n".join(lines)


def _release(summary: FileSummary) -> str:
    """The oldest version that is sure to read the file: the one that wrote it."""
    known = all(part.isalnum() for part in summary.coterie_version.split("."))
    return summary.coterie_version if known and summary.coterie_version else version("coterie")


def _parameters(summary: FileSummary) -> str:
    rows = [(escaped(name), escaped(repr(value))) for name, value in sorted(summary.params.items())]
    return _table(("parameter", "value"), rows) if rows else "None that are plain values."


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---" for _ in head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
