"""The explanation of one prediction: a sentence and signed contributions, as text and as bars."""

from dataclasses import dataclass
from html import escape
from math import floor, log10
from typing import Any

_POSITIVE, _NEGATIVE = "#0072b2", "#d55e00"  # told apart by colour-blind eyes
_NEGLIGIBLE = 1e-9  # an error of rounding
_NEGATIVE_INK = "#a84700"  # the same where it is the colour of small text


@dataclass(frozen=True)
class RowExplanation:
    """The explanation of one row and one output, with the largest contributions first.

    Attributes
    ----------
    prediction, base_value : float
    unit : what the prediction is, such as "log-odds"
    output : the label of the output, None where there is only one
    contributions : pairs of a text, such as "age = 37", and a SHAP value; the last one may be that of all other columns
    probability, base_probability : what raw predictions are as probabilities, or None
    standard_error : the largest of the contributions, or None if they are exact
    """

    prediction: float
    base_value: float
    unit: str
    output: Any
    contributions: list[tuple[str, float]]
    probability: float | None = None
    base_probability: float | None = None
    standard_error: float | None = None

    @property
    def heading(self) -> str:
        """The prediction and its base value, for titles.

        Examples
        --------
        >>> RowExplanation(1.2, -0.3, "log-odds", "yes", [], 0.7685, 0.4256).heading
        'probability of yes: 0.7685, log-odds 1.2 (base value 0.4256, log-odds -0.3)'
        """
        of = "" if self.output is None else f" of {self.output}"
        if self.probability is None or self.base_probability is None:
            return f"{self.unit}{of}: {self.prediction:.4g} (base value {self.base_value:.4g})"
        own = f"probability{of}: {self.probability:.4g}, {self.unit} {self.prediction:.4g}"
        return f"{own} (base value {self.base_probability:.4g}, {self.unit} {self.base_value:.4g})"

    @property
    def sentence(self) -> str:
        """What was predicted, and what would be without knowing the row.

        Examples
        --------
        >>> RowExplanation(1.2, -0.3, "log-odds", "yes", [], 0.7685, 0.4256).sentence
        'The probability of yes is 0.7685 (log-odds 1.2); at the average log-odds, -0.3, it would be 0.4256.'
        """
        of = "" if self.output is None else f" of {self.output}"
        if self.probability is None or self.base_probability is None:
            return f"The {self.unit}{of} is {self.prediction:.4g}; on average it is {self.base_value:.4g}."
        return (
            f"The probability{of} is {self.probability:.4g} ({self.unit} {self.prediction:.4g}); at the average "
            f"{self.unit}, {self.base_value:.4g}, it would be {self.base_probability:.4g}."
        )

    @property
    def notes(self) -> list[str]:
        """Sentences about the contributions: their unit if it is not that of the sentence, and how sure they are."""
        found = [] if self.probability is None else [f"Contributions to the {self.unit}:"]
        largest = max((abs(value) for _, value in self.contributions), default=0.0)
        if self.standard_error is not None and self.standard_error > _NEGLIGIBLE * largest:
            found.insert(
                0, f"Contributions are estimates, with standard errors up to {self.standard_error:.1g}."
            )
        return found

    def to_text(self) -> str:
        """The sentence, and a line for each contribution."""
        signed = signed_numbers([value for _, value in self.contributions])
        width = max(map(len, signed), default=0)
        names = [name for name, _ in self.contributions]
        lines = [f"{value:>{width}}  {name}" for value, name in zip(signed, names, strict=True)]
        return "\n".join([self.sentence, *self.notes, *lines])

    def to_html(self) -> str:
        """The sentence, and a bar for each contribution: blue to the right if it adds, orange to the left if not."""
        widest = max((abs(part) for _, part in self.contributions), default=1.0) or 1.0
        signed = signed_numbers([part for _, part in self.contributions])
        lines = "".join(
            _html_line(name, part, text, widest)
            for text, (name, part) in zip(signed, self.contributions, strict=True)
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<p>{escape(self.sentence)}</p>{notes}<table style='font-size: inherit'>{lines}</table>"


def _html_line(name: str, part: float, text: str, widest: float) -> str:
    width = 50 * abs(part) / widest
    left = 50.0 if part > 0 else 50 - width
    bar = (
        '<div style="position: relative; width: 220px; height: 12px; background: #f2f2f2">'
        f'<div style="position: absolute; left: {left:.1f}%; width: {width:.1f}%; height: 100%; '
        f'background: {_POSITIVE if part > 0 else _NEGATIVE}"></div></div>'
    )
    ink = _POSITIVE if part > 0 else _NEGATIVE_INK
    return (
        f'<tr><td style="text-align: right">{escape(name)}</td><td>{bar}</td>'
        f'<td style="text-align: right; color: {ink}">{text}</td></tr>'
    )


def signed_numbers(values: list[float]) -> list[str]:
    """Signed numbers with the same decimals, so that the largest has three digits.

    Examples
    --------
    >>> signed_numbers([1.25, -0.034])
    ['+1.25', '-0.03']
    """
    largest = max(map(abs, values), default=0.0)
    if not 1e-4 < largest < 1e6:
        return [f"{value:+.3g}" for value in values]
    decimals = max(0, 2 - floor(log10(largest)))
    return [f"{value:+.{decimals}f}" for value in values]
