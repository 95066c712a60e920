"""From a model and rows to a report, one section after the other, and the formats in which it can be written."""

import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from coterie._params import Boolean, Instance, Integer, in_short, root_seed
from coterie._typing import SeedLike
from coterie.data.prepare import read_table
from coterie.diagnostics.checks import check_choice
from coterie.errors import InvalidParameter
from coterie.report.columns.data_quality import data_quality_section
from coterie.report.columns.distributions import distributions_section
from coterie.report.columns.drift import drift_section
from coterie.report.columns.feature_importance import column_importance, importance_section
from coterie.report.columns.partial_dependence import partial_dependence_section
from coterie.report.columns.profile import TableProfile, profile_of
from coterie.report.columns.shap_summary import shap_section
from coterie.report.content import Section
from coterie.report.errors.confusion import confusion_section
from coterie.report.errors.residuals import residuals_section
from coterie.report.errors.weak_slices import weak_slices_section
from coterie.report.errors.worst_rows import worst_rows_section
from coterie.report.evaluated_model import EvaluatedModel, evaluated_model, judged_rows, provenance_of
from coterie.report.forms.html_page import html_of
from coterie.report.forms.plain_text import dict_of, json_of, markdown_of, text_of
from coterie.report.model.margins_and_diversity import diversity_section, margins_section
from coterie.report.model.reproducibility import reproducibility_section
from coterie.report.model.training_curves import training_curves_section
from coterie.report.model.tree_browser import trees_section
from coterie.report.scores.calibration import calibration_section
from coterie.report.scores.class_curves import class_curves_section
from coterie.report.scores.gain_and_lift import gain_and_lift_section
from coterie.report.scores.leaderboard import leaderboard_section
from coterie.report.scores.metrics import ScoreEstimate, score_estimates
from coterie.report.scores.summary import headline_of, scores_section, summary_section
from coterie.report.scores.thresholds import thresholds_section


@dataclass(frozen=True, repr=False)
class Report:
    """The evaluation of a model, in sections.

    In a notebook it shows itself; `save` writes a file.

    Attributes
    ----------
    title : str
    model : the name of its class
    task : "classification" or "regression"
    seen : whether the model was fitted to the rows; None if it is not known
    out_of_sample_source : "out of fold", "out of bag", or "" if there are no such predictions
    scores : tuple of ScoreEstimate, on the rows that were given
    out_of_sample_scores : tuple of ScoreEstimate, out of fold or out of bag; empty if there are none
    sections : tuple of Section; one that is left out has a `reason`
    """

    title: str
    model: str
    task: str
    seen: bool | None
    out_of_sample_source: str
    scores: tuple[ScoreEstimate, ...]
    out_of_sample_scores: tuple[ScoreEstimate, ...]
    sections: tuple[Section, ...]

    @property
    def shown(self) -> tuple[Section, ...]:
        """The sections that apply."""
        return tuple(section for section in self.sections if not section.reason)

    @property
    def left_out(self) -> tuple[Section, ...]:
        """The sections that do not apply."""
        return tuple(section for section in self.sections if section.reason)

    @property
    def is_out_of_sample(self) -> bool:
        """Whether there are scores on rows that the model, or the members that predicted them, were not fitted to."""
        return bool(self.out_of_sample_scores) or self.seen is False

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain values: what `json` can write, and nothing else."""
        return dict_of(self)

    def text(self) -> str:
        """The report as plain text, for terminals and logs."""
        return text_of(self)

    def markdown(self) -> str:
        """The report as Markdown, for pull requests and notes."""
        return markdown_of(self)

    def html(self) -> str:
        """The report as one page that loads nothing."""
        return html_of(self)

    def save(self, path: str | Path) -> None:
        """Write a file: .html, .txt, .md or .json. An older file is replaced when the new one is complete."""
        file = Path(path)
        writers: dict[str, Callable[[], str]] = {
            ".html": self.html,
            ".txt": self.text,
            ".md": self.markdown,
            ".json": lambda: json_of(self),
        }
        write = writers.get(file.suffix.lower())
        if write is None:
            allowed = ", ".join(writers)
            raise InvalidParameter.expecting(
                f"path={in_short(str(path))} ends in {file.suffix!r}", allowed, "path", path
            )
        _replace(file, write())

    def _repr_html_(self) -> str:
        """In a frame of its own, so that neither its style nor its scripts meet those of the notebook."""
        return (
            f'<iframe srcdoc="{escape(self.html(), quote=True)}" title="{escape(self.title, quote=True)}" '
            'sandbox="allow-scripts" style="width:100%;height:720px;border:1px solid #d5dade"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.shown)} sections)"


def _replace(file: Path, content: str) -> None:
    """Write beside the file first: a full disk leaves what was there."""
    number, beside = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="\n") as out:
            out.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(beside, 0o666 & ~mask)
        os.replace(beside, file)
    except BaseException:
        os.unlink(beside)
        raise


def build(
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    seen: bool | None = None,
    rows: bool = True,
    reference: Any = None,
    commands: Sequence[str] = (),
    max_rows: int = 5_000,
    n_jobs: int | None = None,
    random_state: SeedLike = 0,
) -> Report:
    """Evaluate a fitted model on some rows, and describe it.

    Parameters
    ----------
    model : a fitted classifier or regressor of one target, of coterie or of scikit-learn's kind
    X, y : rows and their targets, best those that the model was not fitted to
    title : str or None
        None is the name of the model. Default None: it says what the page is about.
    seen : bool or None
        Whether the model was fitted to these rows. None: the report infers it where it can. Default None: a wrong
        statement would be worse than none.
    rows : bool
        False leaves out what single rows hold: the worst rows, dots that stand for rows, trees, labels of few rows, and
        the smallest and largest values. For pages that leave the house. Default True: single rows
        show why a model is wrong.
    reference : table, TableProfile or None
        The rows of the fit, or a profile of them, to compare these rows with column by column. Default None: models do
        not keep their rows.
    commands : sequence of str
        Lines of a shell that make the model and the report, shown in place of lines of Python. Default (): lines of
        Python are shown; the command line passes its own.
    max_rows : int
        The most rows that are used. Of more rows a random sample is drawn, and the report says so. Default 5000: scores
        of so many rows have narrow intervals, and the report is made in seconds.
    n_jobs : int or None
        How many columns are evaluated in parallel; the result is the same. Default None: one after the other, so that
        threads of the model do not compete.
    random_state : int, RandomState, Generator or None
        The seed of samples and permutations. Default 0: the same seed gives the same report, byte for byte.

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
    Report('Wine', 18 sections)
    >>> found.is_out_of_sample
    True
    """
    check_choice("title", title, Instance(str), None)
    check_choice("seen", seen, Boolean(), None)
    check_choice("rows", rows, Boolean())
    check_choice("max_rows", max_rows, Integer(10))
    profile = reference
    if reference is not None and not isinstance(reference, TableProfile):
        profile = profile_of(read_table(reference))
    settings = _Settings(title, seen, rows, profile, tuple(commands))
    seed = root_seed(random_state) >> 1
    with warnings.catch_warnings():
        # Members of scikit-learn complain about names of columns that a committee has already checked.
        warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")
        evaluated = evaluated_model(model, X, y, max_rows=max_rows, n_jobs=n_jobs, seed=seed, shows_rows=rows)
        return _built(evaluated, settings)


@dataclass(frozen=True)
class _Settings:
    """What `build` was asked for."""

    title: str | None
    seen: bool | None
    rows: bool
    profile: TableProfile | None
    commands: tuple[str, ...]

    def given(self) -> dict[str, Any]:
        """The plain ones that differ from their defaults."""
        named = {"title": self.title, "seen": self.seen, "rows": None if self.rows else False}
        return {name: value for name, value in named.items() if value is not None}

    def deciding(self) -> str:
        """The line that decides by a threshold from now on."""
        own = next((line for line in self.commands if line.startswith("coterie predict ")), "")
        return own and f"{own} --threshold {{threshold}}"


def _built(evaluated: EvaluatedModel, settings: _Settings) -> Report:
    provenance = provenance_of(evaluated, settings.seen)
    n_classes = None if evaluated.classes is None else len(evaluated.classes)
    on_rows = score_estimates(evaluated.predictions, n_classes)
    kept = provenance.predictions
    out_of_sample = [] if kept is None else score_estimates(kept, n_classes)
    where, headline = headline_of(evaluated, provenance, on_rows, out_of_sample)
    predictions = evaluated.predictions if kept is None or provenance.seen is False else kept
    judged = judged_rows(evaluated, provenance)
    importance = column_importance(evaluated)
    places = {name: place for place, name in enumerate(evaluated.column_names)}
    important = [places[importance.names[place]] for place in importance.order.tolist()]
    # A model of Python is told the threshold by its own parameter or by a wrapper.
    deciding = settings.deciding() or "FixedThresholdClassifier(model, threshold={threshold})"
    sections = (
        summary_section(evaluated, provenance, on_rows, out_of_sample),
        leaderboard_section(evaluated, where, headline),
        scores_section(provenance, on_rows, out_of_sample),
        thresholds_section(evaluated, predictions, where, deciding),
        class_curves_section(evaluated, predictions, where),
        gain_and_lift_section(evaluated, predictions, where),
        calibration_section(evaluated, predictions, where),
        residuals_section(evaluated, predictions, where),
        confusion_section(evaluated, predictions, where),
        worst_rows_section(evaluated, judged, importance),
        weak_slices_section(evaluated, judged, important),
        distributions_section(evaluated, importance),
        drift_section(evaluated, settings.profile, provenance.seen),
        importance_section(evaluated, importance, provenance.seen),
        shap_section(evaluated),
        partial_dependence_section(evaluated, importance),
        training_curves_section(evaluated),
        margins_section(evaluated, provenance),
        diversity_section(evaluated, provenance),
        trees_section(evaluated),
        data_quality_section(evaluated),
        reproducibility_section(evaluated, settings.given(), settings.commands),
    )
    return Report(
        title=settings.title or evaluated.name,
        model=evaluated.name,
        task=evaluated.task,
        seen=provenance.seen,
        out_of_sample_source=provenance.source,
        scores=tuple(on_rows),
        out_of_sample_scores=tuple(out_of_sample),
        sections=sections,
    )
