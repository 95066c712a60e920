"""Columns that trees cannot use as they are, texts and dates, as columns of numbers."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coterie._params import root_seed, unexpected
from coterie._storage import Fitted, storable, storable_estimator
from coterie._typing import AnyArray, FloatArray, SeedLike
from coterie._value_types import TEXT, dict_of, instance, list_of, pair_of, tuple_of
from coterie.data.inference.infer import are_sentences
from coterie.data.inference.levels import TextLevels
from coterie.data.inference.strings import moments_of, named_columns, native_column, strings_of
from coterie.data.table import days_of
from coterie.data.table_files.suggestions import guessed, listed
from coterie.data.text_features import TextReduction
from coterie.errors import InvalidInput

_MOST_DATES = 3  # columns whose differences are taken
_PARTS = ("year", "month", "weekday", "hour")


@storable("DateParts", {"parts": tuple_of(TEXT)})
@dataclass(frozen=True)
class DateParts:
    """Which parts of the dates of a column say something: those that differ, and may come again."""

    parts: tuple[str, ...]

    @classmethod
    def of(cls, moments: AnyArray) -> "DateParts":
        """The parts that differ: of these a weekday after two weeks, a month after two months."""
        known = moments[~np.isnat(moments)]
        if not len(known):
            return cls(())
        span = float((known.max() - known.min()) / np.timedelta64(1, "D"))
        long_enough = {"year": 0, "month": 60, "weekday": 14, "hour": 0}
        values = cls(_PARTS).values(known)
        differs = {part: bool((own != own[0]).any()) for part, own in values.items()}
        return cls(tuple(part for part in _PARTS if differs[part] and span > long_enough[part]))

    def values(self, moments: AnyArray) -> dict[str, FloatArray]:
        """The parts of dates by name, NaN where a date is missing; Monday is 0."""
        missing = np.isnat(moments)
        held = np.where(missing, np.datetime64("1970-01-01", "us"), moments)
        days = held.astype("M8[D]")
        numbers = {
            "year": held.astype("M8[Y]").astype(np.int64) + 1970,
            "month": held.astype("M8[M]").astype(np.int64) % 12 + 1,
            "weekday": (days.astype(np.int64) + 3) % 7,
            "hour": (held - days) / np.timedelta64(1, "h"),
        }
        return {part: np.where(missing, np.nan, numbers[part].astype(np.float64)) for part in self.parts}


@storable_estimator("TableFeatures")
class TableFeatures(TransformerMixin, BaseEstimator):
    """Texts become a few dozen numbers, dates their parts and the time between them; other columns stay.

    A text is reduced by TF-IDF of words and runs of letters and a truncated SVD, all learned by `fit`: in a pipeline,
    and in a committee, that is inside the folds. A date stays, and beside it are its year, month, weekday and hour as
    far as they differ, and the days between it and other dates.

    Parameters
    ----------
    text : "auto", list of str or None
        Columns of texts. "auto": columns of strings with three words or more on average, nearly another in each row.
        Default "auto": short strings and strings that repeat are labels, and trees split on labels directly.
    dates : "auto", list of str or None
        Columns of dates. "auto": all that hold dates. Default "auto": a date as one number says nothing about seasons
        and weekdays.
    n_components : int
        Numbers that a text becomes, beside its length and its number of words. Default 30: enough for the main topics
        of short texts, and few enough to be split on quickly.
    random_state : int, RandomState, Generator or None
        Draws the beginning of the SVD. Default 0: two fits to the same table give the same features.

    Attributes
    ----------
    reductions_ : dict of the names of columns of texts
    date_parts_ : dict of the names of columns of dates
    differences_ : list of pairs of columns of dates
    feature_names_in_ : array of str
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> when = np.array(["2024-03-01", "2024-07-02"], dtype="M8[D]")
    >>> features = TableFeatures().fit({"size": [1.0, 2.0], "sold": when})
    >>> {name: values.tolist() for name, values in features.transform({"size": [3.0], "sold": when[1:]}).items()
    ...  if name != "sold" and name != "size"}
    {'sold.month': [7.0], 'sold.weekday': [1.0]}
    """

    FITTED: ClassVar[Fitted] = {
        "reductions_": dict_of(TEXT, instance(TextReduction)),
        "date_parts_": dict_of(TEXT, instance(DateParts)),
        "differences_": list_of(pair_of(TEXT, TEXT)),
    }

    def __init__(
        self,
        text: str | list[str] | None = "auto",
        dates: str | list[str] | None = "auto",
        n_components: int = 30,
        random_state: SeedLike = 0,
    ) -> None:
        self.text = text
        self.dates = dates
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what texts and dates are like; `y` is not looked at."""
        columns = named_columns(X)
        if columns is None:
            raise InvalidInput.expecting(
                "X has columns without names", "a data frame or a dict of columns", "X", type(X).__name__
            )
        if not isinstance(self.n_components, int | np.integer) or self.n_components < 1:
            raise unexpected("n_components", self.n_components, "a whole number >= 1")
        texts, dates = self.columns_in(X)
        seed = root_seed(self.random_state)
        self.reductions_ = {
            name: TextReduction.learned(_strings(columns[name]), int(self.n_components), seed)
            for name in texts
        }
        self.date_parts_ = {name: DateParts.of(_moments(name, columns[name])) for name in dates}
        self.differences_ = list(combinations(dates[:_MOST_DATES], 2))
        self.n_features_in_ = len(columns)
        self.feature_names_in_ = np.array(list(columns), dtype=object)
        return self

    def columns_in(self, X: Any) -> tuple[list[str], list[str]]:
        """The names of the columns of texts, and of those of dates; none in a table without names."""
        columns = named_columns(X) or {}
        texts = self._chosen("text", columns, _holds_sentences)
        dates = self._chosen("dates", columns, lambda values: moments_of(values) is not None)
        return texts, dates

    def _chosen(self, parameter: str, columns: dict[str, Any], holds: Any) -> list[str]:
        chosen = getattr(self, parameter)
        if chosen is None:
            return []
        if isinstance(chosen, str):
            if chosen != "auto":
                raise unexpected(parameter, chosen, "'auto', a list of names or None")
            return [name for name, values in columns.items() if holds(values)]
        for name in chosen:
            if name not in columns:
                raise InvalidInput(
                    f"{parameter}: X has no column {name!r}.",
                    parameter=parameter,
                    received=name,
                    hint=guessed(str(name), columns) or f"Its columns are {listed(columns)}.",
                )
        return list(chosen)

    def transform(self, X: Any) -> dict[str, Any]:
        """A dict of columns: texts replaced by numbers, parts of dates beside the dates, the others as they are."""
        check_is_fitted(self, "reductions_")
        columns = named_columns(X) or {}
        for name in [*self.reductions_, *self.date_parts_]:
            if name not in columns:
                raise InvalidInput(
                    f"X has no column {name!r}, which fit saw.", parameter="X", received=name, column=name
                )
        found: dict[str, Any] = {}
        for name, values in columns.items():
            if name not in self.reductions_:
                found[name] = native_column(values)
        for name, reduction in self.reductions_.items():
            numbers = reduction.values(_strings(columns[name]))
            names = [*map(str, range(reduction.n_outputs)), "letters", "words"]
            found |= {f"{name}.{part}": numbers[:, place] for place, part in enumerate(names)}
        moments = {name: _moments(name, columns[name]) for name in self.date_parts_}
        for name, parts in self.date_parts_.items():
            found |= {f"{name}.{part}": values for part, values in parts.values(moments[name]).items()}
        for one, other in self.differences_:
            found[f"{other} - {one}"] = days_of(moments[other] - moments[one])
        return found

    def sources(self) -> list[tuple[str, ...]]:
        """For each column of `transform` the columns that it was made from."""
        check_is_fitted(self, "reductions_")
        kept = [(str(name),) for name in self.feature_names_in_ if name not in self.reductions_]
        texts = [(name,) for name, own in self.reductions_.items() for _ in range(own.n_outputs + 2)]
        parts = [(name,) for name, own in self.date_parts_.items() for _ in own.parts]
        return [*kept, *texts, *parts, *self.differences_]


def _holds_sentences(values: Any) -> bool:
    texts = strings_of(values)
    return texts is not None and are_sentences(TextLevels.of(texts))


def _strings(values: Any) -> AnyArray:
    texts = strings_of(values)
    held = texts if texts is not None else strings_of(values, whatever=True)
    assert held is not None
    return held


def _moments(name: str, values: Any) -> AnyArray:
    """Dates; a column without any value may have another type."""
    moments = moments_of(values)
    if moments is not None:
        return moments
    texts = strings_of(values, whatever=True)
    if texts is not None and not TextLevels.of(texts).levels:
        return np.full(len(texts), np.datetime64("NaT"), dtype="M8[us]")
    raise InvalidInput.expecting(
        f"Column {name!r} of X holds no dates", "dates, as in fit", "X", name, column=name
    )
