"""Settings that are checked before anything is read, in the words of the command line."""

from collections.abc import Iterable

from sklearn.metrics import get_scorer_names

from coterie._params import resolve_n_jobs
from coterie.cli.problems import USAGE, Problem, nearest
from coterie.errors import InvalidParameter

__all__ = ["check_settings", "names_in"]


def check_settings(scoring: str | None, jobs: int | None) -> None:
    """Refuse what no fit accepts."""
    if scoring is not None and scoring not in get_scorer_names():
        guess = nearest(scoring, get_scorer_names())
        advice = guess or " Some are roc_auc, f1_macro, r2 and neg_mean_absolute_error."
        raise Problem(f"--scoring {scoring}: there is no such scorer in scikit-learn.{advice}", USAGE)
    try:
        resolve_n_jobs(jobs)
    except InvalidParameter:
        raise Problem(
            f"--jobs {jobs}: expected a number of threads, or a negative one to count from all of them (-1).",
            USAGE,
        ) from None


def names_in(text: str | None, option: str, known: Iterable[str]) -> list[str] | str:
    """Names with commas between; "auto" if there is no text.

    Examples
    --------
    >>> names_in("forest, linear", "--members", ["forest", "linear", "boosting"])
    ['forest', 'linear']
    """
    if text is None:
        return "auto"
    names, known = [own.strip() for own in text.split(",")], list(known)
    for name in names:
        if name not in known:
            raise Problem(
                f"{option} {text}: there is no {name!r}.{nearest(name, known)} Known are {', '.join(known)}.",
                USAGE,
            )
    if len(set(names)) < len(names):
        raise Problem(f"{option} {text}: a name is given twice.", USAGE)
    return names
