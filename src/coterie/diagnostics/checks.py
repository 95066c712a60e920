"""Parameters of functions: each is compared with its rules, and the error names it."""

from typing import Any

from coterie._params import Rule, unexpected
from coterie.errors import InvalidInput


def check_choice(name: str, value: object, *rules: Rule | None) -> None:
    """Refuse a value that none of the rules accepts; None is a rule for None.

    Examples
    --------
    >>> from coterie._params import Integer
    >>> check_choice("n_bins", 0, Integer(1), None)
    Traceback (most recent call last):
    coterie.errors.InvalidParameter: n_bins=0: expected a whole number >= 1 or None.
    """
    if any(value is None if rule is None else rule.accepts(value) for rule in rules):
        return
    allowed = " or ".join("None" if rule is None else rule.describe() for rule in rules)
    raise unexpected(name, value, allowed)


def several_targets(purpose: str, model: Any, n_targets: int) -> InvalidInput:
    """The error of a model that was fitted to several targets."""
    return InvalidInput(
        f"{purpose} one target, and this {type(model).__name__} was fitted to {n_targets}.",
        parameter="model",
        received=n_targets,
        allowed="a model of one target",
        hint="Fit one for each.",
    )
