"""What other packages may use of a fitted ensemble, as methods that the estimators have.

Diagnostics, reports, pruning and export call these methods, and know no estimator by its type. An estimator of somebody
else takes part by having them; those of scikit-learn get them from `coterie.diagnostics.sklearn_adapters`. Who has a
protocol is found by `hasattr`, because some methods exist only with some parameters.

| protocol | who has it | who needs it |
|---|---|---|
| `HasMemberPredictions` | forests, bagging, voting, stacking, selection, AdaBoost, committees | diversity, `prune` |
| `HasHeldOutPredictions` | committees | reports |
| `HasVotes` | forests of classes, gradient boosting of classes | margins, bounds, error by round |
| `HasStagedVotes` | AdaBoost of classes | the same |
| `PredictsAfter` | forests, bagging | bias and variance by stage, learning curves |
| `HasFewerMembers` | forests, bagging, voting, selection | `prune` |
| `HasFewerRounds` | gradient boosting | `prune` |
| `HasSplitCounts` | trees, forests, isolation forests, gradient boosting, imported models | importance by splits |
| `HasTreeSum` | trees, forests, bagged trees, gradient boosting, AdaBoost of stumps, imported models | export |
"""

from collections.abc import Iterator
from typing import Any, Protocol, Self

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.members.member_predictions import HeldOutPredictions, MemberPredictions
from coterie.members.votes import Votes
from coterie.trees.tree_sum import TreeSum


class HasMemberPredictions(Protocol):
    """An ensemble whose members each predict the target."""

    def member_predictions(self, X: Any) -> MemberPredictions:
        """What each member predicts for the rows of a table."""
        ...


class HasHeldOutPredictions(Protocol):
    """An ensemble that keeps what its members predicted out of fold."""

    def held_out_predictions(self) -> HeldOutPredictions:
        """The predictions of all members for training rows that they were not fitted to."""
        ...


class HasVotes(Protocol):
    """An ensemble that decides between classes by votes, which can be counted."""

    def votes(self, X: Any, *, votes: str = "hard", oob: bool = False) -> Votes:
        """The votes of the members.

        Parameters
        ----------
        X : a table
        votes : {"hard", "soft"}
            Whether a member votes for one class, or shares its vote by its probabilities.
        oob : bool
            Whether only members vote that did not draw the row; X is then the training table.
        """
        ...


class HasStagedVotes(Protocol):
    """An ensemble whose members vote one after the other.

    `estimator_weights_` are the votes of the members, which may be negative. If votes change from round to round,
    `vote_history_` holds them, one row for each round.
    """

    classes_: AnyArray
    estimator_weights_: FloatArray

    def staged_votes(self, X: Any) -> Iterator[FloatArray]:
        """The votes of each class after each round, shape (n_rows, n_classes)."""
        ...


class PredictsAfter(Protocol):
    """An ensemble whose first members can predict without the others.

    Models whose rounds follow each other have scikit-learn's `staged_predict` instead.
    """

    n_estimators_: int

    def predict_after(self, X: Any, stages: RowArray) -> Iterator[AnyArray]:
        """What `predict` would be with only the first members, for each of these ascending numbers of them."""
        ...


class HasFewerMembers(HasMemberPredictions, Protocol):
    """An ensemble that predicts with a weighted mean, and can leave members out."""

    def with_members(self, places: RowArray) -> Self:
        """A copy with only the members at these ascending places, as they are."""
        ...


class HasFewerRounds(Protocol):
    """An ensemble whose rounds build on each other, so that only the last ones can be left out."""

    def with_rounds(self, n_rounds: int) -> Self:
        """A copy with only the first rounds."""
        ...


class HasSplitCounts(Protocol):
    """A model whose trees split on columns."""

    def split_counts(self) -> FloatArray:
        """How often each column is split on, over all trees."""
        ...


class HasTreeSum(Protocol):
    """A model that is a sum of trees and a link."""

    def tree_sum(self) -> TreeSum:
        """The model taken apart; refuses what is no such sum."""
        ...

    def tree_features(self, X: Any) -> FloatArray:
        """The matrix that the trees see of a table, shape (n_rows, n_features)."""
        ...
