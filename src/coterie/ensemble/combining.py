"""Voting and stacking with the parameters of scikit-learn's."""

import sys
from typing import Any, Self

import numpy as np
from sklearn import ensemble as theirs
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from coterie.combining import stacking, voting
from coterie.data.target import Target
from coterie.ensemble._mirror import Mirror, mirrors
from coterie.errors import InvalidParameter
from coterie.fitting.monitor import FitEvent, monitored
from coterie.members.fit_members import Member
from coterie.members.response import ResponseMethod


class NamedMembersMirror(Mirror):
    """What ours can do beside scikit-learn's is not asked for."""

    on_error = "raise"
    random_state = None

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the members, and what combines them; what else is given goes where metadata routing sends it."""
        others = set(fit_params) - {"sample_weight"}
        if others and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"Passing extra keyword arguments to {type(self).__name__}.fit is only supported if "
                "enable_metadata_routing=True, which you can set using `sklearn.set_config`. Extra parameters passed "
                f"are: {others}"
            )
        parent: Any = super()
        with monitored(*([print_member] if self._is_verbose() else [])):
            parent.fit(X, y, **fit_params)
        return self

    def _check_parameters(self) -> None:
        own: Any = self
        if not own.estimators or not all(
            isinstance(item, list | tuple) and len(item) > 1 and isinstance(item[0], str)
            for item in own.estimators
        ):
            raise InvalidParameter(
                "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, estimator) "
                "tuples.",
                parameter="estimators",
                received=own.estimators,
                allowed="a non-empty list of (string, estimator) tuples",
            )
        super()._check_parameters()

    def _is_verbose(self) -> bool:
        return False


def print_member(event: FitEvent) -> bool:
    """A line for each member, as scikit-learn prints it."""
    if event.step == "member" and event.owner.startswith("Voting"):
        begin = "[Voting] "
        end = f" ({event.done} of {event.total}) Processing {event.name}, total={event.seconds or 0.0:6.1f}s"
        sys.stdout.write(begin + "." * max(0, 78 - len(begin) - len(end)) + end + "\n")
    return False


class VotingMirror(NamedMembersMirror):
    """MemberSequence are fitted once, to all rows."""

    cv = None

    def _is_verbose(self) -> bool:
        own: Any = self
        return bool(own.verbose)

    def _verbosity(self) -> int:
        return 0  # lines are printed in another form


class StackingMirror(NamedMembersMirror):
    """MemberSequence are fitted once more to all rows; nothing is scored out of fold."""

    members = "refit"
    oof_score = False
    leak_guard = False

    def get_metadata_routing(self) -> MetadataRouter:
        """Who may be given what: `fit` of members, and `predict` of the final estimator."""
        own: Any = self
        router = MetadataRouter(owner=self)
        for name, learner, *_ in own.estimators:
            router.add(**{name: learner}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        final = getattr(self, "final_estimator_", None)
        mapping = MethodMapping().add(caller="predict", callee="predict")
        return router.add(
            final_estimator_=own._final_or_default() if final is None else final, method_mapping=mapping
        )


@mirrors(theirs.VotingClassifier)
class VotingClassifier(VotingMirror, voting.VotingClassifier):
    """Voting of classifiers, as `sklearn.ensemble.VotingClassifier` is called; members may have their own columns."""

    def __init__(
        self,
        estimators: Any,
        *,
        voting: str = "hard",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the members; what else is given goes where metadata routing sends it.

        A member of soft voting that has no `predict_proba` is noticed when probabilities are needed.
        """
        shape = getattr(y, "shape", ())
        if len(shape) == 2 and shape[1] > 1:
            raise NotImplementedError("Multilabel and multi-output classification is not supported.")
        return super().fit(X, y, **fit_params)

    def _response(self, member: Member, target: Target) -> ResponseMethod:
        classes = target.classes
        assert isinstance(classes, np.ndarray)
        is_hard = self.voting == "hard"
        return ResponseMethod("predict" if is_hard else "predict_proba", (classes,), is_hard)


@mirrors(theirs.VotingRegressor)
class VotingRegressor(VotingMirror, voting.VotingRegressor):
    """Voting of regressors, as `sklearn.ensemble.VotingRegressor` is called; members may have their own columns."""

    voting = "mean"

    def __init__(
        self, estimators: Any, *, weights: Any = None, n_jobs: int | None = None, verbose: bool = False
    ) -> None:
        self._store(locals())


@mirrors(theirs.StackingClassifier)
class StackingClassifier(StackingMirror, stacking.StackingClassifier):
    """A stack under a final classifier, as `sklearn.ensemble.StackingClassifier` is called."""

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
    ) -> None:
        self._store(locals())


@mirrors(theirs.StackingRegressor)
class StackingRegressor(StackingMirror, stacking.StackingRegressor):
    """A stack under a final regressor, as `sklearn.ensemble.StackingRegressor` is called."""

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
    ) -> None:
        self._store(locals())
