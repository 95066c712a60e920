"""Settings that are checked before anything is read, in the words of the command line."""

from collections.abc import Iterable

from sklearn.metrics import get_scorer_names

from coterie._params import resolve_n_jobs
from coterie.cli.errors import USAGE, CommandError, guessed
from coterie.errors import InvalidParameter


def check_settings(scoring: str | None, jobs: int | None) -> None:
    """Refuse what no fit accepts."""
    if scoring is not None and scoring not in get_scorer_names():
        raise CommandError(
            f"--scoring {scoring}: there is no such scorer in scikit-learn.",
            USAGE,
            parameter="--scoring",
            received=scoring,
            hint=guessed(scoring, get_scorer_names())
            or "Some are roc_auc, f1_macro, r2 and neg_mean_absolute_error.",
        )
    try:
        resolve_n_jobs(jobs)
    except InvalidParameter:
        allowed = "a number of threads, or a negative one to count from all of them (-1)"
        raise CommandError(
            f"--jobs {jobs}: expected {allowed}.", USAGE, parameter="--jobs", received=jobs, allowed=allowed
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
            raise CommandError(
                f"{option} {text}: there is no {name!r}.",
                USAGE,
                parameter=option,
                received=name,
                allowed=f"some of {', '.join(known)}",
                hint=" ".join(filter(None, [guessed(name, known), f"Known are {', '.join(known)}."])),
            )
    if len(set(names)) < len(names):
        raise CommandError(f"{option} {text}: a name is given twice.", USAGE, parameter=option, received=text)
    return names
