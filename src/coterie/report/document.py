"""The report itself: sections in order, and the formats in which it can be written."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from coterie._params import in_short
from coterie.errors import InvalidParameter
from coterie.report.content import Section
from coterie.report.html_page import html_of
from coterie.report.json_format import dict_of, json_of
from coterie.report.metrics import ScoreEstimate
from coterie.report.plain_text import markdown_of, text_of


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
