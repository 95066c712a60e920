"""The order in which a committee tries its configurations, as it was learned over public tables.

The names are written by a program, from predictions of all configurations for a folder of tables:

    python benchmarks/accuracy/portfolio_study.py write --out PREDICTIONS
"""

from collections.abc import Sequence

from coterie.committee.entry import Shape

_MANY_ROWS = 2_500  # to learn from; from here on what is dear for many rows comes later

ORDERS: dict[str, tuple[str, ...]] = {
    "few": ("quick_boosting",),
    "many": ("quick_boosting",),
}
# End of what is written.


def ordered(names: Sequence[str], shape: Shape) -> list[str]:
    """Names in the order for tables of a size; those that nothing was learned about come last, as they were given."""
    order = ORDERS["few" if shape.n_train < _MANY_ROWS else "many"]
    places = {name: place for place, name in enumerate(order)}
    return sorted(names, key=lambda name: places.get(name, len(places)))
