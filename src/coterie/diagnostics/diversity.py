"""Do members err on different rows? Diversity of votes, ambiguity of numbers, and the contribution of each member."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from coterie._params import OneOf
from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie.data.target import read_target
from coterie.data.weight import read_weight
from coterie.diagnostics.checks import check_choice
from coterie.diagnostics.votes import codes_of, is_list_of_models, member_predictions_of
from coterie.members.member_predictions import MemberPredictions


class Pairs(NamedTuple):
    """From which rows both, one or none of two members are right about; NaN where a measure has no meaning."""

    disagreement: FloatArray
    q_statistic: FloatArray
    correlation: FloatArray
    double_fault: FloatArray


def pairs_of(right: BoolArray, weight: FloatArray) -> Pairs:
    """`right`: shape (n_members, n_rows); `weight`: how often each row counts.

    Examples
    --------
    Of four rows, both members are right about two, and each alone about one.

    >>> right = np.array([[True, True, True, False], [True, True, False, True]])
    >>> found = pairs_of(right, np.ones(4))
    >>> float(found.disagreement[0, 1]), float(found.double_fault[0, 1]), float(found.q_statistic[0, 1])
    (0.5, 0.0, -1.0)
    """
    yes, no = right.astype(np.float64), (~right).astype(np.float64)
    both, first = (yes * weight) @ yes.T, (yes * weight) @ no.T
    second, none = first.T, (no * weight) @ no.T
    ahead, crossed = both * none, first * second
    spread = np.sqrt(np.outer((yes @ weight) * (no @ weight), (yes @ weight) * (no @ weight)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Pairs(
            disagreement=(first + second) / weight.sum(),
            q_statistic=np.where(ahead + crossed > 0, (ahead - crossed) / (ahead + crossed), np.nan),
            correlation=np.where(spread > 0, (ahead - crossed) / spread, np.nan),
            double_fault=none / weight.sum(),
        )


def agreement_beyond_chance(codes: AnyArray, n_classes: int, weight: FloatArray) -> FloatArray:
    """Cohen's kappa of the predictions of two members: 1 if they always agree, 0 if no more than by chance.

    Examples
    --------
    >>> agreement_beyond_chance(np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), 2, np.ones(4))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    agree = np.zeros((len(codes), len(codes)))
    chance = np.zeros_like(agree)
    for code in range(n_classes):
        named = (codes == code).astype(np.float64)
        agree += (named * weight) @ named.T
        chance += np.outer(named @ weight, named @ weight)
    total = weight.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(chance < total**2, (agree * total - chance) / (total**2 - chance), np.nan)


def correlations(values: FloatArray, share: FloatArray) -> FloatArray:
    """Pearson's correlation of the rows of `values`; NaN for one that does not vary."""
    centred = values - (values @ share)[:, None]
    products = (centred * share) @ centred.T
    spread = np.sqrt(np.outer(np.diag(products), np.diag(products)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, products / spread, np.nan)


def twins_of(alike: FloatArray) -> tuple[AnyArray, FloatArray]:
    """For each member the one that is most like it, and how much; a measure without meaning counts as all alike."""
    others = np.where(np.isnan(alike), 1.0, alike)
    np.fill_diagonal(others, -np.inf)
    twins = others.argmax(axis=1)
    return twins, np.asarray(others[np.arange(len(others)), twins])


_PAIRWISE = ("disagreement", "q_statistic", "correlation", "double_fault", "kappa")


@dataclass(frozen=True, repr=False, eq=False)
class Diversity:
    """How the members of an ensemble of classes differ. Matrices have the shape (n_members, n_members).

    Attributes
    ----------
    names, votes : of the members, and how much the vote of each counts
    member_errors : share of rows that each member gets wrong
    vote_error : share of rows that the members get wrong together
    ensemble_error : share of rows that `predict` of the model gets wrong; NaN for a list of models
    disagreement : share of rows that just one of two members is right about
    q_statistic : Yule's Q; 0 for independent members, 1 if they are right about the same rows, -1 about others
    correlation : of being right
    double_fault : share of rows that both get wrong
    kappa : how much more two members agree than by chance
    entropy : 0 if members are all right or all wrong about each row, 1 if half of them are
    kohavi_wolpert_variance : (n - 1) / (2 n) times the mean disagreement of n members
    interrater_agreement : 1 if members are right about the same rows, 0 if they are independent
    generalized_diversity : 1 if no two members are wrong about the same row, 0 if they always are
    drop_one : how much the vote error would grow without each member; negative if it is better without
    twin, redundancy : for each member the place of the one that is most like it, and their kappa
    """

    names: tuple[str, ...]
    votes: FloatArray
    member_errors: FloatArray
    vote_error: float
    ensemble_error: float
    disagreement: FloatArray
    q_statistic: FloatArray
    correlation: FloatArray
    double_fault: FloatArray
    kappa: FloatArray
    entropy: float
    kohavi_wolpert_variance: float
    interrater_agreement: float
    generalized_diversity: float
    drop_one: FloatArray
    twin: AnyArray
    redundancy: FloatArray

    def mean(self, measure: str) -> float:
        """The mean of a matrix over all pairs of members, such as `mean("disagreement")`."""
        check_choice("measure", measure, OneOf(*_PAIRWISE))
        matrix = getattr(self, measure)
        return _mean_known(matrix[np.triu_indices(len(matrix), 1)])

    def cloud(self) -> tuple[FloatArray, FloatArray]:
        """Kappa and mean error of every pair of members: the kappa-error diagram."""
        first, second = np.triu_indices(len(self.names), 1)
        return self.kappa[first, second], (self.member_errors[first] + self.member_errors[second]) / 2

    def __repr__(self) -> str:
        lines = [
            f"{len(self.names)} members",
            f"  mean error           {self.member_errors.mean():.4f}",
            f"  least error          {self.member_errors.min():.4f}",
            f"  together             {self.vote_error:.4f}",
            *[f"  {name.replace('_', ' '):<21}{self.mean(name):.4f}" for name in _PAIRWISE],
            f"  entropy              {self.entropy:.4f}",
            f"  interrater agreement {self.interrater_agreement:.4f}",
            f"  generalized          {self.generalized_diversity:.4f}",
        ]
        return "\n".join(lines)


@dataclass(frozen=True, repr=False, eq=False)
class Ambiguity:
    """How the members of an ensemble of numbers differ: `mean_error = average_error - ambiguity`, exactly.

    Attributes
    ----------
    names, votes : of the members, and their weights, which sum to 1
    member_errors : mean squared error of each member
    average_error : their mean, by votes
    ambiguity : mean squared distance of members from their mean, by votes
    mean_error : mean squared error of their mean, by votes
    ensemble_error : mean squared error of `predict` of the model; NaN for a list of models
    member_ambiguity : mean squared distance of each member from the mean
    distance : mean squared distance of two members, shape (n_members, n_members)
    correlation : of the errors of two members, shape (n_members, n_members)
    drop_one : how much the error of the mean would grow without each member; negative if it is better without
    twin, redundancy : for each member the place of the one with the most correlated errors, and that correlation
    """

    names: tuple[str, ...]
    votes: FloatArray
    member_errors: FloatArray
    average_error: float
    ambiguity: float
    mean_error: float
    ensemble_error: float
    member_ambiguity: FloatArray
    distance: FloatArray
    correlation: FloatArray
    drop_one: FloatArray
    twin: AnyArray
    redundancy: FloatArray

    def __repr__(self) -> str:
        pairs = np.triu_indices(len(self.names), 1)
        return "\n".join(
            [
                f"{len(self.names)} members",
                f"  average error   {self.average_error:.4g}",
                f"  - ambiguity     {self.ambiguity:.4g}",
                f"  = error of mean {self.mean_error:.4g}",
                f"  correlation of errors {_mean_known(self.correlation[pairs]):.4f}",
            ]
        )


def diversity(model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Diversity | Ambiguity:
    """How the members of a fitted ensemble differ, and what each of them contributes.

    An ensemble is better than its members only where they err on different rows. Use rows that members were not fitted
    to: on rows that they know, they are all right and all alike.

    Parameters
    ----------
    model : a fitted ensemble, or a list or dict of fitted models
        Forests, bagging, voting, stacking, selection, committees and AdaBoost, of coterie or scikit-learn. Members of
        stacking and of lists have equal votes here.
    X, y : rows and their targets
    sample_weight : array of shape (n_rows,), how often each row counts
        Default None: every row counts once.

    Returns
    -------
    Diversity for classes, Ambiguity for numbers

    Notes
    -----
    All predictions are held at once: members times rows times classes numbers of eight bytes. Of a very large table,
    some rows are enough.

    Examples
    --------
    >>> from coterie import RandomForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = X[:, 0] * X[:, 1]
    >>> found = diversity(RandomForestRegressor(20, random_state=0).fit(X[:200], y[:200]), X[200:], y[200:])
    >>> bool(abs(found.average_error - found.ambiguity - found.mean_error) < 1e-12)
    True

    References
    ----------
    Krogh and Vedelsby (1995); Margineantu and Dietterich (1997); Kuncheva and Whitaker (2003).
    """
    members = member_predictions_of(model, X)
    n_rows = members.values.shape[1]
    given = read_weight(sample_weight, n_rows)
    weight = np.ones(n_rows) if given is None else given
    share = weight / weight.sum()
    together = None if is_list_of_models(model) else np.asarray(model.predict(X))
    if not members.classes:
        target = read_target(y, task="regression", estimator_name="diversity", n_rows=n_rows).values
        error = np.nan if together is None else float((together - target) ** 2 @ share)
        return ambiguity_of(members, target, share, error)
    [classes] = members.classes
    codes = codes_of(y, classes, n_rows)
    error = np.nan if together is None else float((together != classes[codes]) @ share)
    return diversity_of(members, codes, weight, error)


def diversity_of(
    members: MemberPredictions, codes: AnyArray, weight: FloatArray, ensemble_error: float
) -> Diversity:
    """All measures of the predictions of classifiers; `codes` are the right classes."""
    predicted, n_members = members.codes, len(members.values)
    right = predicted == codes
    share = weight / weight.sum()
    pairs = pairs_of(right, weight)
    kappa = agreement_beyond_chance(predicted, members.values.shape[2], weight)
    accuracy = float((right @ weight).sum() / (n_members * weight.sum()))
    n_right = right.sum(axis=0).astype(np.float64)
    n_wrong = n_members - n_right
    split = float((n_right * n_wrong) @ share)
    chance = (n_members - 1) * accuracy * (1 - accuracy)
    one_wrong = float(n_wrong @ share) / n_members
    two_wrong = float((n_wrong * (n_wrong - 1)) @ share) / (n_members * (n_members - 1))
    twin, redundancy = twins_of(kappa)
    vote_error, drop_one = _contributions(members, codes, share)
    return Diversity(
        names=members.names,
        votes=members.weights,
        member_errors=(~right) @ weight / weight.sum(),
        vote_error=vote_error,
        ensemble_error=ensemble_error,
        kappa=kappa,
        entropy=float(np.minimum(n_right, n_wrong) @ share) / (n_members // 2),
        kohavi_wolpert_variance=split / n_members**2,
        interrater_agreement=1 - split / n_members / chance if chance > 0 else float("nan"),
        generalized_diversity=1 - two_wrong / one_wrong if one_wrong > 0 else float("nan"),
        drop_one=drop_one,
        twin=twin,
        redundancy=redundancy,
        **pairs._asdict(),
    )


def _contributions(
    members: MemberPredictions, codes: AnyArray, share: FloatArray
) -> tuple[float, FloatArray]:
    """The error of the votes of all members, and how much it grows without each."""
    total = np.tensordot(members.weights, members.values, axes=1)
    unit = float(np.abs(total).max(initial=0.0)) or 1.0

    def error_of(sums: FloatArray) -> float:
        """Ties stay ties, although what is taken away may leave a rounding error."""
        return float(((sums / unit).round(12).argmax(axis=1) != codes) @ share)

    error = error_of(total)
    without = [
        error_of(total - vote * own) for vote, own in zip(members.weights, members.values, strict=True)
    ]
    return error, np.array(without) - error


def ambiguity_of(
    members: MemberPredictions, target: FloatArray, share: FloatArray, ensemble_error: float
) -> Ambiguity:
    """All measures of the predictions of regressors."""
    values, votes = members.values[:, :, 0], members.weights / members.weights.sum()
    mean = votes @ values
    member_errors, member_ambiguity = (values - target) ** 2 @ share, (values - mean) ** 2 @ share
    mean_error = float((mean - target) ** 2 @ share)
    products = (values * share) @ values.T
    squares = np.diag(products)
    correlation = correlations(values - target, share)
    twin, redundancy = twins_of(correlation)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (mean - votes[:, None] * values) / (1 - votes)[:, None]
    return Ambiguity(
        names=members.names,
        votes=votes,
        member_errors=member_errors,
        average_error=float(votes @ member_errors),
        ambiguity=float(votes @ member_ambiguity),
        mean_error=mean_error,
        ensemble_error=ensemble_error,
        member_ambiguity=member_ambiguity,
        distance=np.maximum(0.0, squares[:, None] + squares[None, :] - 2 * products),
        correlation=correlation,
        drop_one=(without - target) ** 2 @ share - mean_error,
        twin=twin,
        redundancy=redundancy,
    )


def _mean_known(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
