"""Decision regions: what a classifier decides over two columns, after some rounds, or member by member."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray
from coterie.data.parts import table_shape
from coterie.diagnostics.regions import DecisionRegions, decision_regions
from coterie.diagnostics.votes import codes_of
from coterie.errors import InvalidParameter
from coterie.plots.animation import AnimationFrame
from coterie.plots.chart import Chart, Points, Regions
from coterie.plots.display import Display
from coterie.plots.plane import beside_each_other, chart_axis

_MOST_ROWS = 400  # drawn, spread evenly over the table; more hide the regions
_MOST_PANELS = 9
_FAINTEST, _STRONGEST, _OF_CLASSES = 0.06, 0.55, 0.3


class BoundaryDisplay(Display):
    """The regions of the classes over two columns, in stronger colours where the classifier is more certain.

    Several stages, such as after 1, 5 and 50 rounds, or the members, are beside each other, and `animate` shows one
    after the other.

    Parameters
    ----------
    regions : DecisionRegions, the result of `coterie.diagnostics.decision_regions`
    codes : array of shape (n_rows,) or None
        The class of each row of the table as its place among the classes: rows are drawn as points. None: no points.
        Default None: regions need no rows; `from_estimator` with y adds them.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from coterie import AdaBoostClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> boosted = AdaBoostClassifier(n_estimators=50).fit(X, y)
    >>> display = BoundaryDisplay.from_estimator(boosted, X, y, columns=(0, 1), rounds=[1, 5, 50])
    >>> display
    BoundaryDisplay(x0 by x1, 3 stages)
    >>> list(display.data)
    ['stage', 'x', 'y', 'class', 'share']
    """

    def __init__(self, regions: DecisionRegions, codes: AnyArray | None = None) -> None:
        self.regions = regions
        if codes is not None and np.shape(codes) != regions.x.place.shape:
            raise InvalidParameter.expecting(
                f"codes has the shape {np.shape(codes)}",
                f"a class for each of the {len(regions.x.place)} rows of the table",
                "codes",
                codes,
            )
        self.codes = codes

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any = None, columns: Any = (0, 1), **options: Any
    ) -> "BoundaryDisplay":
        """Ask a fitted classifier on a grid over two columns; rows of X are points in the colours of y.

        `options` are those of `coterie.diagnostics.decision_regions`: `rounds` for the classifier after some of its
        rounds, `members=True` for its members one by one, `response` for probabilities, votes or classes, `others` for
        what other columns hold, `resolution`.
        """
        return cls(decision_regions(model, X, columns, **options), _codes(y, X, np.asarray(model.classes_)))

    @classmethod
    def from_estimators(
        cls, models: Mapping[str, Any], X: Any, y: Any = None, columns: Any = (0, 1), **options: Any
    ) -> "BoundaryDisplay":
        """Several fitted classifiers of the same classes beside each other, by name; a tree and bagged trees, say."""
        found = {name: decision_regions(model, X, columns, **options) for name, model in models.items()}
        if not found:
            raise InvalidParameter.expecting(
                "models is empty", "classifiers by their names", "models", models
            )
        first = next(iter(found.values()))
        for name, own in found.items():
            if not np.array_equal(own.classes, first.classes):
                raise InvalidParameter.expecting(
                    f"models hold {name!r} with the classes {in_short(own.classes.tolist())}",
                    f"classifiers of {in_short(first.classes.tolist())}, as the first one is",
                    "models",
                    models,
                )
        stages = tuple(
            str(name) if len(own.stages) == 1 else f"{name}, {stage}"
            for name, own in found.items()
            for stage in own.stages
        )
        shares = np.concatenate([own.shares for own in found.values()])
        kinds = {own.response for own in found.values()}
        response = kinds.pop() if len(kinds) == 1 else "probability"
        return cls(
            replace(first, stages=stages, shares=shares, response=response), _codes(y, X, first.classes)
        )

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "stage", "x", "y", "class" and "share", its probability or share of votes; a row for each place."""
        regions = self.regions
        n_stages, n_y, n_x, _ = regions.shares.shape
        names = [np.array(axis.levels) if axis.levels else axis.values for axis in (regions.x, regions.y)]
        return {
            "stage": np.repeat(np.array(regions.stages), n_y * n_x),
            "x": np.tile(names[0], n_stages * n_y),
            "y": np.tile(np.repeat(names[1], n_x), n_stages),
            "class": regions.labels.ravel(),
            "share": regions.shares.max(axis=3).ravel(),
        }

    def panels(self) -> tuple[Chart, ...]:
        """A plot for each stage; of more than nine, nine that are spread evenly."""
        n_stages = len(self.regions.stages)
        shown = np.unique(np.linspace(0, n_stages - 1, min(n_stages, _MOST_PANELS)).round().astype(int))
        return tuple(self._chart(stage) for stage in shown.tolist())

    def frames(self) -> list[AnimationFrame]:
        """A frame for each stage."""
        return [AnimationFrame(name, (self._chart(stage),)) for stage, name in enumerate(self.regions.stages)]

    def _chart(self, stage: int) -> Chart:
        regions = self.regions
        codes, share = regions.codes[stage], regions.shares[stage].max(axis=2)
        least = 1 / len(regions.classes)
        certain = np.clip((share - least) / max(1 - least, 1e-9), 0.0, 1.0)
        strength = _FAINTEST + (_STRONGEST - _FAINTEST) * certain
        if regions.response == "class":
            strength = np.full(share.shape, _OF_CLASSES)
        title = regions.stages[stage]
        if len(regions.stages) == 1 and not title.startswith("after"):
            title = f"Decision regions, {title}"
        return Chart(
            title,
            chart_axis(regions.x),
            chart_axis(regions.y),
            points=self._points(),
            regions=Regions(codes.astype(np.int64), strength),
        )

    def _points(self) -> tuple[Points, ...]:
        """The rows by class; without rows a name for each colour all the same."""
        nothing = np.zeros(0)
        labels = [str(label) for label in self.regions.classes.tolist()]
        if self.codes is None:
            return tuple(Points(label, nothing, nothing, outlined=True) for label in labels)
        rows = np.arange(len(self.codes))
        if len(rows) > _MOST_ROWS:
            rows = np.linspace(0, len(rows) - 1, _MOST_ROWS).round().astype(np.int64)
        x, y = beside_each_other(self.regions.x, self.regions.y, rows)
        return tuple(
            Points(label, x[self.codes[rows] == code], y[self.codes[rows] == code], outlined=True)
            for code, label in enumerate(labels)
        )

    def __repr__(self) -> str:
        n_stages = len(self.regions.stages)
        stages = "1 stage" if n_stages == 1 else f"{n_stages} stages"
        return f"BoundaryDisplay({self.regions.x.name} by {self.regions.y.name}, {stages})"


def _codes(y: Any, X: Any, classes: AnyArray) -> AnyArray | None:
    return None if y is None else codes_of(y, classes, table_shape(X).n_rows)
