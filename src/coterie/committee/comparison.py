"""A fair comparison: every family under the same folds, with intervals, and the result as a sentence.

Scores of folds vary less than those of tables drawn anew: any two folds share most of the rows they learn from. Nadeau
and Bengio's correction adds what that hides: the variance of the mean of K scores is not s^2 / K but
(1 / K + n_test / n_train) s^2.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from coterie._params import (
    Boolean,
    Function,
    Integer,
    OneOf,
    Rule,
    Seed,
    resolve_n_jobs,
    root_seed,
    spawn_seeds,
    unexpected,
)
from coterie._typing import AnyArray, Auto, FloatArray, Task
from coterie.committee._committee_data import drawn_folds
from coterie.committee.any_target import read_any_target
from coterie.committee.families import families
from coterie.committee.listing import Listing, in_few_digits
from coterie.committee.metrics import LogLossMetric, RowTargets, SquaredErrorMetric
from coterie.committee.portfolio import PortfolioLike
from coterie.data.groups import read_groups
from coterie.data.parts import row_indexable, rows_of
from coterie.data.prepare import read_table
from coterie.data.target import Target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput, InvalidType
from coterie.fitting.monitor import FitEvent, emit, printed_progress
from coterie.fitting.scoring import ScorerName, parameters_of, takes_weight
from coterie.members.fit_members import FitTask, Member, fit_all
from coterie.members.out_of_fold import Fold, Splitter
from coterie.members.prediction_sets import check_alpha
from coterie.members.response import ResponseMethod
from coterie.members.weight_parameter import weight_params
from coterie.metrics import ShownMetric, scorer_of, shown_metric


@dataclass(frozen=True)
class FoldMean:
    """A mean, the half width of its interval, and the chance to be so far from 0 if the truth is 0."""

    value: float
    half_width: float
    p_value: float

    @property
    def low(self) -> float:
        return self.value - self.half_width

    @property
    def high(self) -> float:
        return self.value + self.half_width


def fold_mean(scores: FloatArray, test_per_train: float, alpha: float) -> FoldMean:
    """The mean of scores of folds, or of differences of scores, and its interval at the level 1 - alpha.

    Parameters
    ----------
    scores : array of shape (n_folds,)
    test_per_train : float, rows held out for each row learned from: 1 / 4 with five folds
    alpha : float in (0, 1)

    Examples
    --------
    >>> mean = fold_mean(np.array([0.8, 0.9, 0.7, 0.8, 0.8]), 0.25, 0.05)
    >>> round(mean.value, 3), round(mean.half_width, 3)
    (0.8, 0.132)

    References
    ----------
    Nadeau and Bengio, Inference for the generalization error (2003).
    """
    n_folds, middle = len(scores), float(np.mean(scores))
    if n_folds < 2:
        return FoldMean(middle, float("nan"), float("nan"))
    error = float(np.sqrt((1 / n_folds + test_per_train) * np.var(scores, ddof=1)))
    if error == 0:
        return FoldMean(middle, 0.0, 1.0 if middle == 0 else 0.0)
    half_width = float(stats.t.ppf(1 - alpha / 2, n_folds - 1)) * error
    return FoldMean(middle, half_width, float(2 * stats.t.sf(abs(middle) / error, n_folds - 1)))


class Comparison(Listing):
    """Models in the order of their scores, and what follows.

    Parameters
    ----------
    rows, conclusion, shown, scores, left_out, alpha : what `coterie.compare` found

    Attributes
    ----------
    conclusion : str
    scoring : str, the metric that is scored
    greater_is_better : bool
    scores : dict of arrays, the score of each fold by the name of the model
    left_out : list of str, models that could not be fitted, and why
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Any]],
        conclusion: str,
        shown: ShownMetric,
        scores: dict[str, FloatArray],
        left_out: Sequence[str],
        alpha: float,
    ) -> None:
        explained = (
            f"{shown.heading}: {shown.direction}; the mean over folds. low and high: a {1 - alpha:.0%} confidence "
            f"interval. behind: by how much {shown.name} is worse than that of the first."
        )
        headings = {
            "name": "model",
            "score": shown.heading,
            "behind_low": "low ",
            "behind_high": "high ",
            "p_value": "p value",
            "fit_time": "fit (s)",
            "predict_time": "predict (s/1,000)",
        }
        super().__init__(rows, [explained, *left_out, conclusion], headings=headings)
        self.conclusion, self.scoring, self.scores = conclusion, shown.name, scores
        self.greater_is_better, self.left_out = shown.greater_is_better, list(left_out)


def compare(
    X: Any,
    y: Any,
    *,
    models: Any = "auto",
    task: Auto | Task = "auto",
    scoring: Any = None,
    cv: Any = 5,
    sample_weight: Any = None,
    groups: Any = None,
    committee: float | bool = False,
    alpha: float = 0.05,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> Comparison:
    """Compare all families of models, and baselines, under the same folds.

    Parameters
    ----------
    X : any table
    y : labels or numbers, one for each row
    models : "auto" or list
        "auto": a guess that does not look at X ("dummy"), "linear", one "tree", "forest", "extra_trees", "boosting"
        and "adaboost". A list names some of them, or adds others as tuples (name, estimator). Default "auto": all
        families, so that none is forgotten.
    task : {"auto", "classification", "regression"}
        "auto": numbers are regression if one of them has a fraction or more than twenty differ; all else are classes.
        Default "auto": the target usually shows it.
    scoring : str, callable or None
        None is "log_loss" or "rmse"; or another metric by name, or any scorer of scikit-learn. Default None: it is
        smoother than scores that count, so choices by it are the least noisy.
    cv : int, splitter, list of (train, test) or None
        As for committees. Repeated folds make intervals narrower. Default 5: five folds leave four fifths of the rows
        to learn from, at the price of five fits.
    sample_weight : how often each row counts; models that cannot take it are left out
        Default None: all rows count alike.
    groups : rows of a group are in one fold
        Default None: rows do not belong together.
    committee : bool or float
        Whether a committee takes part, or the seconds that it may take for each fold; True is 60. Default False: it
        takes a minute a fold.
    alpha : float in (0, 1)
        Intervals hold the truth 1 - alpha of the time. Default 0.05: intervals of 95 %.
    n_jobs : int or None
        Default None: members decide themselves, so that threads do not compete.
    random_state : int, RandomState, Generator or None
        Draws the folds and the models. Default None: a new seed for each fit, as in scikit-learn; a number makes it
        repeatable.
    verbose : int
        1 prints a line for each model. Default 0: silent.

    Returns
    -------
    Comparison, a list of dicts, the best model first: name, score, low and high; behind, by how much it is worse than
    the best, with behind_low and behind_high, and p_value; fit_time in seconds for a fold, predict_time for a thousand
    rows. Scores are means over folds, and errors are positive. Its `conclusion` is a sentence.

    Notes
    -----
    Intervals are those of Nadeau and Bengio, which know that folds learn from the same rows. The comparison with the
    best is paired: both models predict the same rows of each fold. Which model is best was found from the same scores,
    so with many models that are close a p_value says too much.

    Examples
    --------
    >>> from coterie import compare
    >>> from coterie.datasets import load_table
    >>> X, y = load_table("wine")
    >>> result = compare(X, y, models=["dummy", "tree", "forest"], random_state=0)
    >>> result.column("name")
    ['forest', 'tree', 'dummy']
    >>> print(result.conclusion)  # doctest: +NORMALIZE_WHITESPACE
    forest is ahead of tree by 0.496 ± 1.18 (log_loss): that may be chance. It is better than the baseline (dummy) by
    0.959 ± 0.044: more than chance.

    References
    ----------
    Nadeau and Bengio, Inference for the generalization error (2003).
    """
    _check(
        models=(models, [PortfolioLike()]),
        task=(task, [OneOf("auto", "classification", "regression")]),
        cv=(cv, [Integer(2), Splitter(), None]),
        random_state=(random_state, [Seed()]),
        verbose=(verbose, [Integer(0), Boolean()]),
    )
    check_alpha(alpha)
    resolve_n_jobs(n_jobs)
    table = read_table(X)
    kind, target = read_any_target(y, task, table.n_rows, "compare")
    name_rule = ScorerName(kind)
    _check(name_rule.hint(scoring), scoring=(scoring, [name_rule, Function(), None]))
    weight = combined_weight(read_weight(sample_weight, table.n_rows), None)
    codes = None if groups is None else read_groups(groups, table.n_rows)
    X, seed = row_indexable(X), root_seed(random_state)
    folds = drawn_folds(cv, X, target.values, codes, kind, seed, "compare")
    evaluation = _Evaluation(X, target, weight, codes, folds, scoring, n_jobs)
    with printed_progress(verbose, "compare", "model"):
        runs, notes = _evaluated(evaluation, families(models, kind, committee, n_jobs), seed)
    if not runs:
        raise InvalidInput(f"compare: no model could be fitted. {'; '.join(notes)}", parameter="models")
    ratio = float(np.mean([len(fold.test) / len(fold.train) for fold in folds]))
    return _compared(runs, ratio, alpha, evaluation.shown, notes)


def _check(hint: str | None = None, **given: tuple[Any, list[Rule | None]]) -> None:
    for param, (value, rules) in given.items():
        if not any(value is None if rule is None else rule.accepts(value) for rule in rules):
            allowed = " or ".join("None" if rule is None else rule.describe() for rule in rules)
            raise unexpected(param, value, allowed, owner="compare", hint=hint)


def _evaluated(
    evaluation: "_Evaluation", models: Sequence[tuple[str, Any]], seed: int
) -> tuple[dict[str, "_ModelRun"], list[str]]:
    """Runs of the models by name, and notes on those that were left out."""
    runs: dict[str, _ModelRun] = {}
    notes: list[str] = []
    for place, own in enumerate(spawn_seeds(seed, len(models))):
        name, estimator = models[place]
        begun = time.perf_counter()
        try:
            runs[name] = evaluation.run(name, estimator, int(own))
        except (InvalidType, ValueError, ArithmeticError) as error:
            notes.append(f"left out: {name}: {type(error).__name__}: {error}")
            continue
        stop = emit(
            FitEvent(
                "compare",
                "model",
                len(runs) + len(notes),
                len(models),
                name=name,
                seconds=time.perf_counter() - begun,
                measures={evaluation.shown.name: float(np.mean(runs[name].scores))},
            )
        )
        if stop:
            notes += [f"left out: {name}: a monitor asked to stop" for name, _ in models[place + 1 :]]
            break
    return runs, notes


@dataclass(frozen=True)
class _ModelRun:
    """The scores of a model by fold; seconds to fit a fold, and to predict a thousand rows."""

    scores: FloatArray
    fit_time: float
    predict_time: float


@dataclass(frozen=True)
class _Evaluation:
    """Fits a model to each fold and scores it on what the fold held out."""

    X: Any
    target: Target
    weight: FloatArray | None
    groups: AnyArray | None
    folds: Sequence[Fold]
    scoring: Any
    n_jobs: int | None

    @property
    def shown(self) -> ShownMetric:
        """How scores of folds are shown."""
        if self.scoring is None:
            return shown_metric(self._metric().name)
        named = isinstance(self.scoring, str)
        return shown_metric(self.scoring if named else getattr(self.scoring, "__name__", "score"))

    def _metric(self) -> LogLossMetric | SquaredErrorMetric:
        return SquaredErrorMetric() if self.target.classes is None else LogLossMetric()

    @property
    def _labels(self) -> AnyArray:
        classes = self.target.classes
        return self.target.values if classes is None else np.asarray(classes)[self.target.values]

    def run(self, name: str, estimator: Any, seed: int) -> _ModelRun:
        params = weight_params(estimator, self.weight)
        if self.groups is not None and "groups" in parameters_of(estimator.fit):
            params["groups"] = self.groups
        member, labels = Member(name, estimator), self._labels
        scores, fit_time, predict_time = [], 0.0, 0.0
        for fold, own in zip(self.folds, spawn_seeds(seed, len(self.folds)), strict=True):
            begun = time.perf_counter()
            task = FitTask(member, labels, rows=fold.train, params=params, seed=int(own))
            [outcome] = fit_all([task], self.X, n_jobs=self.n_jobs, on_error="raise")
            middle = time.perf_counter()
            scores.append(self._score(name, outcome.model, fold))
            fit_time += middle - begun
            predict_time += time.perf_counter() - middle
        n_predicted = sum(len(fold.test) for fold in self.folds)
        return _ModelRun(np.array(scores), fit_time / len(self.folds), 1000 * predict_time / n_predicted)

    def _score(self, name: str, model: Any, fold: Fold) -> float:
        """As it is shown: of an error less is better."""
        part = rows_of(self.X, fold.test)
        weight = np.ones(len(fold.test)) if self.weight is None else self.weight[fold.test]
        if not weight.any():
            raise InvalidInput("a fold holds out no row with weight.", parameter="sample_weight")
        if self.scoring is None:
            rows = RowTargets(self.target.values[fold.test], weight)
            own = self._metric().value(self._response(model).predict_with(name, model, part), rows)
            return self.shown.value(own)
        classes = self.target.classes
        scorer = scorer_of(self.scoring, None if classes is None else np.asarray(classes))
        given = {"sample_weight": weight} if self.weight is not None and takes_weight(scorer) else {}
        return self.shown.value(float(scorer(model, part, self._labels[fold.test], **given)))

    def _response(self, model: Any) -> ResponseMethod:
        if self.target.classes is None:
            return ResponseMethod("predict")
        soft = hasattr(model, "predict_proba")
        return ResponseMethod(
            "predict_proba" if soft else "predict", (np.asarray(self.target.classes),), is_vote=not soft
        )


def _compared(
    runs: dict[str, _ModelRun], ratio: float, alpha: float, shown: ShownMetric, left_out: list[str]
) -> Comparison:
    scores = {name: run.scores for name, run in runs.items()}
    sign = 1.0 if shown.greater_is_better else -1.0
    order = sorted(scores, key=lambda name: -sign * float(np.mean(scores[name])))
    best = order[0]
    behind = {name: fold_mean(sign * (scores[best] - scores[name]), ratio, alpha) for name in order}
    rows = []
    for name in order:
        own, gap = fold_mean(scores[name], ratio, alpha), behind[name]
        rows.append(
            {
                "name": name,
                "score": own.value,
                "low": own.low,
                "high": own.high,
                "behind": gap.value + 0.0,
                "behind_low": gap.low + 0.0,
                "behind_high": gap.high + 0.0,
                "p_value": gap.p_value,
                "fit_time": runs[name].fit_time,
                "predict_time": runs[name].predict_time,
            }
        )
    return Comparison(rows, _sentence(order, behind, shown.name), shown, scores, left_out, alpha)


_BASELINE = "dummy"


def _sentence(order: list[str], behind: dict[str, FoldMean], metric: str) -> str:
    """Who is first, by how much, and whether it beats the baseline, which does not look at the columns."""
    best = order[0]
    if len(order) == 1:
        return f"{best} is the only model that was compared."
    second = order[1]
    lead = behind[second]
    if lead.low > 0:
        sentences = [f"{best} is better than {second} by {_by(lead)} ({metric}): more than chance."]
    else:
        sentences = [f"{best} is ahead of {second} by {_by(lead)} ({metric}): that may be chance."]
        worse = [name for name in order[2:] if behind[name].low > 0 and name != _BASELINE]
        if worse:
            listed = " and ".join([", ".join(worse[:-1]), worse[-1]] if len(worse) > 1 else worse)
            sentences.append(f"It is better than {listed} by more than chance.")
    return " ".join(sentences + _about_baseline(best, second, behind))


def _about_baseline(best: str, second: str, behind: dict[str, FoldMean]) -> list[str]:
    if best == _BASELINE or (_BASELINE in behind and not behind[_BASELINE].low > 0):
        return [
            f"No model is clearly better than the baseline ({_BASELINE}), which does not look at the columns."
        ]
    if _BASELINE not in behind or second == _BASELINE:
        return []
    return [f"It is better than the baseline ({_BASELINE}) by {_by(behind[_BASELINE])}: more than chance."]


def _by(lead: FoldMean) -> str:
    return f"{in_few_digits(lead.value)} ± {in_few_digits(lead.half_width)}"
