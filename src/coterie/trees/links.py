"""From raw predictions to predictions: what models do after they have added up their trees."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from scipy.special import expit, softmax

from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import BOOL, NUMBER, one_of

_NUMBERS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "identity": lambda scores: scores,
    "exp": np.exp,
    "logistic": expit,
    "log1p_exp": lambda scores: np.logaddexp(0.0, scores),
    "signed_square": lambda scores: np.sign(scores) * scores * scores,
}


@storable("import.NumberLink", {"name": one_of("identity", "exp", "logistic", "log1p_exp", "signed_square")})
@dataclass(frozen=True)
class NumberLink:
    """A number of each score."""

    name: str = "identity"

    def predictions(self, scores: FloatArray) -> FloatArray:
        """One number for each row, or a column for each output."""
        numbers = _NUMBERS[self.name](scores)
        return numbers[:, 0] if scores.shape[1] == 1 else numbers


@dataclass(frozen=True)
class Ascending:
    """Several quantiles: the scores in ascending order."""


@dataclass(frozen=True)
class OneClass:
    """All rows are of the one class that there is."""


class ClassLink(Protocol):
    """Probabilities and classes of the scores of rows. Trees of shares have no scores to show: `has_scores`."""

    @property
    def has_scores(self) -> bool: ...

    def probabilities(self, scores: FloatArray) -> FloatArray: ...

    def chosen(self, scores: FloatArray) -> AnyArray: ...


@storable(
    "import.Logistic",
    {
        "scale": NUMBER,
        "second": one_of("score > 0", "score >= 0", "probability > 1/2"),
        "has_scores": BOOL,
    },
)
@dataclass(frozen=True)
class Logistic:
    """Two classes, one score: the log odds of the second, divided by `scale`.

    `second` is from where on the second class is chosen: libraries differ about ties.
    """

    scale: float = 1.0
    second: Literal["score > 0", "score >= 0", "probability > 1/2"] = "probability > 1/2"
    has_scores: bool = True

    def probabilities(self, scores: FloatArray) -> FloatArray:
        second = expit(self.scale * scores[:, 0])
        return np.stack([1.0 - second, second], axis=1)

    def chosen(self, scores: FloatArray) -> AnyArray:
        score = scores[:, 0]
        if self.second == "probability > 1/2":
            return np.asarray(expit(self.scale * score) > 0.5, dtype=np.intp)
        return (score > 0 if self.second == "score > 0" else score >= 0).astype(np.intp)


@storable("import.Hinge", {"has_scores": BOOL})
@dataclass(frozen=True)
class Hinge:
    """Two classes, one score, and probabilities of 0 and 1: the second class where the score is positive."""

    has_scores: bool = True

    def probabilities(self, scores: FloatArray) -> FloatArray:
        second = (scores[:, 0] > 0).astype(np.float64)
        return np.stack([1.0 - second, second], axis=1)

    def chosen(self, scores: FloatArray) -> AnyArray:
        return (scores[:, 0] > 0).astype(np.intp)


@storable("import.Softmax", {"has_scores": BOOL})
@dataclass(frozen=True)
class Softmax:
    """A score for each class."""

    has_scores: bool = True

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return np.asarray(softmax(scores, axis=1))

    def chosen(self, scores: FloatArray) -> AnyArray:
        return np.asarray(scores.argmax(axis=1))


@storable("import.OneVersusRest", {"scale": NUMBER, "has_scores": BOOL})
@dataclass(frozen=True)
class OneVersusRest:
    """A score for each class against the rest. The probabilities are LightGBM's, whose sum need not be 1."""

    scale: float = 1.0
    has_scores: bool = True

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return np.asarray(expit(self.scale * scores))

    def chosen(self, scores: FloatArray) -> AnyArray:
        return np.asarray(scores.argmax(axis=1))


@storable("import.Shares", {"has_scores": BOOL})
@dataclass(frozen=True)
class Shares:
    """The scores are probabilities already, as in a forest."""

    has_scores: bool = False

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return scores

    def chosen(self, scores: FloatArray) -> AnyArray:
        return np.asarray(scores.argmax(axis=1))
