"""Warm start of gradient boosting: the rounds of the last fit, from which a longer one goes on.

The boosters are made anew from the table and the seed of the first fit; the rounds that are known are added to their
raw predictions again (`_replay.py`), and training goes on after them. Nothing but the model is needed for that, so it
works after pickling, and the result is that of one longer fit.
"""

from dataclasses import dataclass
from typing import Any

from coterie._typing import RowArray
from coterie.errors import InvalidParameter
from coterie.fitting.warm_start import check_no_fewer


@dataclass(frozen=True)
class BoostingState:
    """What a longer fit needs of the last one.

    Attributes
    ----------
    rounds : how many rounds each booster has
    forest : the trees of all boosters, round by round
    unweighted : the same before they were weighted for the mean of several boosters; None if that was not kept
    """

    rounds: RowArray
    forest: Any
    unweighted: Any

    def check(self, n_estimators: int) -> None:
        """Refuse to continue with fewer rounds, or with boosters whose mean cannot be taken apart."""
        n_known = int(self.rounds.max())
        check_no_fewer(n_estimators, n_known, "rounds")
        if len(self.rounds) > 1 and self.unweighted is None:
            raise InvalidParameter(
                f"warm_start=True was not set when the {len(self.rounds)} boosters were fitted, and their mean cannot "
                "be taken apart to the last bit.",
                parameter="warm_start",
                received=True,
                hint="Set warm_start=True before the first fit.",
            )

    def trees(self, n_outputs: int) -> list[list[list[Any]]]:
        """The trees of each booster, round by round."""
        forest = self.forest if len(self.rounds) == 1 else self.unweighted
        boosters: list[list[list[Any]]] = [[] for _ in self.rounds]
        place = 0
        for number in range(int(max(self.rounds))):
            for booster, n_rounds in zip(boosters, self.rounds, strict=True):
                if number < n_rounds:
                    booster.append([forest.tree(place + output) for output in range(n_outputs)])
                    place += n_outputs
        return boosters
