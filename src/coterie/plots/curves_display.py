"""Curves of any numbers in the look of the other displays: predictions with intervals, scores by a parameter."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidInput
from coterie.plots.chart import Axis, Chart, Line, Points
from coterie.plots.display import Display

_ROOM = 0.05  # of the height, above and below the curves


class CurvesDisplay(Display):
    """Curves over one axis, each perhaps with a band around it, and points.

    Parameters
    ----------
    x : array of shape (n_values,)
        Numbers in ascending order, or dates.
    curves : dict
        By its label, the values of each curve: an array of shape (n_values,), or a tuple of three such arrays, the
        middle, the low and the high end of a band.
    points : dict, optional
        By their label, points that are not joined: a tuple of their places on both axes. Default None: curves alone.
    title, x_label, y_label : str
        Default '': nothing is written.
    log_x : bool, whether the horizontal axis has the same distance from 1 to 10 as from 10 to 100
        Default False: most axes are not logarithmic.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> display = CurvesDisplay(x, {"square": x**2, "guess": (2 * x, x, 3 * x)}, points={"seen": ([2.0], [4.5])})
    >>> display
    CurvesDisplay(2 curves, 3 values)
    >>> display.data["guess, high"]
    array([3., 6., 9.])
    """

    def __init__(
        self,
        x: ArrayLike,
        curves: Mapping[str, Any],
        *,
        points: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
        title: str = "",
        x_label: str = "",
        y_label: str = "",
        log_x: bool = False,
    ) -> None:
        places = np.asarray(x)
        self.x_holds_dates = places.dtype.kind == "M"
        self.x = _numbers("x", places)
        self.curves = {str(label): _curve(str(label), values, self.x) for label, values in curves.items()}
        self.points = {
            str(label): (_numbers(f"points[{label!r}]", across), _numbers(f"points[{label!r}]", up))
            for label, (across, up) in (points or {}).items()
        }
        if not self.curves and not self.points:
            raise InvalidInput.expecting(
                "curves and points are empty", "a curve or points", "curves", dict(curves)
            )
        if log_x and any(
            (across <= 0).any() for across in (self.x, *(own[0] for own in self.points.values()))
        ):
            raise InvalidInput.expecting(
                "x has values of 0 or less", "values above 0, with log_x=True", "x", x
            )
        self.title, self.x_label, self.y_label, self.log_x = title, x_label, y_label, log_x

    @property
    def data(self) -> dict[str, AnyArray]:
        """Column "x", a column for each curve, and those of its band as "label, low" and "label, high"."""
        columns: dict[str, AnyArray] = {"x": self.x}
        for label, (middle, low, high) in self.curves.items():
            columns[label] = middle
            if low is not None and high is not None:
                columns[f"{label}, low"], columns[f"{label}, high"] = low, high
        return columns

    def chart(self) -> Chart:
        lines = tuple(
            Line(label, self.x, middle, low=low, high=high)
            for label, (middle, low, high) in self.curves.items()
        )
        points = tuple(Points(label, across, up) for label, (across, up) in self.points.items())
        across = [self.x, *(own.x for own in points)]
        up = [values for curve in self.curves.values() for values in curve if values is not None]
        low, high = _limits([*up, *(own.y for own in points)], room=_ROOM)
        left, right = _limits(across, room=0.02 if points and not self.log_x else 0.0)
        x = Axis(self.x_label, left, right, log=self.log_x, dates=self.x_holds_dates)
        return Chart(self.title, x, Axis(self.y_label, low, high), lines, points=points)

    def __repr__(self) -> str:
        n_curves = "1 curve" if len(self.curves) == 1 else f"{len(self.curves)} curves"
        return f"CurvesDisplay({n_curves}, {len(self.x)} values)"


def _curve(label: str, values: Any, x: FloatArray) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    """The middle of a curve, and the ends of its band."""
    parts = values if isinstance(values, tuple) else (values,)
    if len(parts) not in (1, 3):
        raise InvalidInput.expecting(
            f"The curve {label!r} is a tuple of {len(parts)}",
            "an array, or a tuple of three: the middle, the low and the high end",
            "curves",
            len(parts),
        )
    arrays = [_numbers(f"curves[{label!r}]", np.asarray(part)) for part in parts]
    for array in arrays:
        if array.shape != x.shape:
            raise InvalidInput.expecting(
                f"The curve {label!r} has the shape {array.shape}",
                f"{x.shape}, as x has",
                "curves",
                array.shape,
            )
    return (arrays[0], None, None) if len(arrays) == 1 else (arrays[0], arrays[1], arrays[2])


def _numbers(name: str, values: ArrayLike) -> FloatArray:
    """One axis of finite numbers; dates are days since 1970."""
    found = np.asarray(values)
    if found.dtype.kind == "M":
        found = found.astype("M8[s]").astype(np.int64) / 86400
    try:
        found = found.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInput.expecting(f"{name} is {in_short(values)}", "numbers", name, values) from None
    if found.ndim != 1 or len(found) == 0 or not np.isfinite(found).all():
        what = "NaN or infinity" if found.ndim == 1 and len(found) else f"the shape {found.shape}"
        raise InvalidInput.expecting(f"{name} has {what}", "one axis of finite numbers", name, found.shape)
    return np.asarray(found)


def _limits(parts: list[FloatArray], room: float) -> tuple[float, float]:
    every = np.concatenate(parts)
    low, high = float(every.min()), float(every.max())
    margin = room * (high - low) or (0.5 if low == high else 0.0)
    return low - margin, high + margin
