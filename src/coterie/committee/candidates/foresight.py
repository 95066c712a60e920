"""What a fit will take, from what fits so far took; and how few folds, and how many rows, fit into a time limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from coterie.committee.candidates.entry import Entry, Shape
from coterie.members.out_of_fold import Fold

LARGE = 20_000  # rows to learn from; of fewer all folds, and all rows, are worth their time
_LEAST_FOLDS = 3  # below which there is nothing to save
_N_FIRST = 5  # members for which there should be time
_SHARE_OF_FIRST = 0.5  # of the time limit, since other machines are slower and tables harder than expected

ForecastState = tuple[float, float, list[float], dict[str, tuple[float, float]]]


@dataclass
class Forecast:
    """What a fold of a member may take, from what folds of others took.

    What is known of members beforehand is right but for a factor: how fast this machine is, and how hard this table.
    The factor is the time that was taken over the time that was expected: by members of the family, if there were
    some, else by all whose work is alike.

    Examples
    --------
    >>> forest = Entry("forest", None, seconds=lambda shape: shape.n_train / 1000)
    >>> forecast = Forecast()
    >>> forecast.learn(forest, Shape(2000, 500, 3), 1.0)
    >>> forecast.seconds(forest, Shape(4000, 500, 3))
    2.0
    """

    expected: float = 0.0
    taken: float = 0.0
    unknown: list[float] = field(default_factory=list)
    by_family: dict[str, tuple[float, float]] = field(default_factory=dict)

    def learn(self, entry: Entry, shape: Shape, seconds: float) -> None:
        """A fold of a member took so long."""
        self.unknown.append(seconds)
        if entry.seconds is None:
            return
        expected = entry.seconds(shape)
        if entry.informs_forecast:
            self.expected += expected
            self.taken += seconds
        if entry.family:
            before, took = self.by_family.get(entry.family, (0.0, 0.0))
            self.by_family[entry.family] = (before + expected, took + seconds)

    def seconds(self, entry: Entry, shape: Shape) -> float:
        """What a fold may take; of a member that nobody knows, what folds took on average."""
        if entry.seconds is None:
            return sum(self.unknown) / len(self.unknown) if self.unknown else 0.0
        expected, taken = self.by_family.get(entry.family, (self.expected, self.taken))
        factor = taken / expected if expected > 0 else 1.0
        return factor * entry.seconds(shape)

    @property
    def state(self) -> ForecastState:
        """What a checkpoint keeps."""
        return self.expected, self.taken, list(self.unknown), dict(self.by_family)


def folds_within(folds: list[Fold], entries: Sequence[Entry], shape: Shape, limit: float) -> list[Fold]:
    """A hold-out in place of the folds of a large table, if the time limit is too short for the members in all of them.

    The first members of the portfolio have to fit into half of the time, by what is known of them beforehand. That does
    not depend on the machine, so that a fit can be repeated. Members that leave rows out by themselves are fitted
    once in any case, and lose nothing by it.

    Examples
    --------
    >>> folds = [Fold([0], [1])] * 5
    >>> dear = [Entry("forest", None, seconds=lambda shape: shape.n_train / 10_000)]
    >>> [len(folds_within(folds, dear, Shape(80_000, 20_000, 9), limit)) for limit in (100.0, 40.0, 20.0)]
    [5, 1, 1]
    """
    if shape.n_train < LARGE or len(folds) < _LEAST_FOLDS:
        return folds
    known = [(entry, entry.seconds(shape)) for entry in entries[:_N_FIRST] if entry.seconds is not None]
    needed = sum(_fits_of(entry, len(folds)) * seconds for entry, seconds in known)
    return folds if needed <= _SHARE_OF_FIRST * limit else folds[:1]


def _fits_of(entry: Entry, n_folds: int) -> float:
    return n_folds if entry.single_fit is None else entry.single_fit_folds


def rows_within(most: int, fewest: int, seconds_of: Callable[[int], float], allowed: float) -> int:
    """The most rows whose fit takes no more than is allowed: `most`, three quarters of it, and so on.

    Examples
    --------
    >>> rows_within(1000, 10, lambda n_rows: n_rows / 100, 6.0)
    562
    """
    while most > fewest and seconds_of(most) > allowed:
        most = max(fewest, most * 3 // 4)
    return most
