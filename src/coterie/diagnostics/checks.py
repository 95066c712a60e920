"""Parameters of functions: each is compared with its rules, and the error names it."""

from coterie._params import Rule, unexpected


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
