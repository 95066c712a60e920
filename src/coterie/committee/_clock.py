"""Time: how much is left, what the next fit may take, and a monitor that stops fits when it is over."""

from collections.abc import Callable
from dataclasses import dataclass, field

from coterie.committee.portfolio import Entry, Shape
from coterie.fitting.monitor import FitEvent


@dataclass(frozen=True)
class Clock:
    """Seconds since the fit began, and the limit; `now` is any function whose differences are seconds."""

    now: Callable[[], float]
    begun: float
    limit: float | None

    @property
    def elapsed(self) -> float:
        return self.now() - self.begun

    @property
    def left(self) -> float:
        return float("inf") if self.limit is None else self.limit - self.elapsed


@dataclass
class Forecast:
    """What a fold of a member may take, from what folds of others took.

    What is known of members beforehand is right but for a factor: how fast this machine is, and how hard this table.
    The factor is the time that was taken over the time that was expected.

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

    def learn(self, entry: Entry, shape: Shape, seconds: float) -> None:
        """A fold of a member took so long."""
        self.unknown.append(seconds)
        if entry.seconds is not None and entry.informs_forecast:
            self.expected += entry.seconds(shape)
            self.taken += seconds

    def seconds(self, entry: Entry, shape: Shape) -> float:
        """What a fold may take; of a member that nobody knows, what folds took on average."""
        if entry.seconds is None:
            return sum(self.unknown) / len(self.unknown) if self.unknown else 0.0
        factor = self.taken / self.expected if self.expected > 0 else 1.0
        return factor * entry.seconds(shape)


class Deadline:
    """A monitor that stops rounds of boosting and trees of forests after the first event that comes too late.

    Attributes
    ----------
    stopped : whether a fit ended before its last round or tree
    """

    def __init__(self, clock: Clock, until: float) -> None:
        self._clock = clock
        self._until = until
        self.stopped = False

    def __call__(self, event: FitEvent) -> bool:
        late = event.step in ("round", "tree") and self._clock.elapsed > self._until
        self.stopped |= late and event.done != event.total
        return late
