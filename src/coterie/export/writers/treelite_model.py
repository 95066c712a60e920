"""Models of trees as treelite models."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from coterie._optional import need
from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidInput
from coterie.export.tree_models import tree_sum_of
from coterie.trees.flat_tree import FlatTree
from coterie.trees.links import (
    Ascending,
    Hinge,
    Logistic,
    NumberLink,
    OneClass,
    OneVersusRest,
    Shares,
    Softmax,
)
from coterie.trees.tree_sum import TreeSum

_NUMBERS = {
    "identity": "identity",
    "exp": "exponential",
    "logistic": "sigmoid",
    "log1p_exp": "logarithm_one_plus_exp",
    "signed_square": "signed_square",
}


def to_treelite(model: Any) -> Any:
    """A model of trees as a treelite model, for its compilers and for inference on graphics cards.

    The model takes the matrix of `feature_matrix(model, X)`: for columns of numbers that is the table itself. For two
    classes it predicts the probability of the second, except forests and trees, which predict both.
    Needs `pip install 'coterie[export]'`.

    Parameters
    ----------
    model : fitted gradient boosting, forest, extra trees, decision tree, bagged trees, AdaBoost of stumps, or an
        imported model
        Linear leaves are refused, because treelite has none: fit with `linear_leaves=False`.

    Returns
    -------
    treelite.Model
        `treelite.gtil.predict` gives predictions of shape (n_rows, targets, classes).

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import RandomForestRegressor
    >>> from coterie.export import to_treelite
    >>> X = np.arange(40.0).reshape(20, 2)
    >>> forest = RandomForestRegressor(10, random_state=0).fit(X, X[:, 0])
    >>> to_treelite(forest).num_tree
    10
    """
    builder = need("treelite.model_builder", purpose="Writing a treelite model", extra="export")
    whole = tree_sum_of(model)
    if any(tree.lines is not None for tree in whole.trees):
        raise InvalidInput(
            f"This {whole.name} has leaves that are lines, and treelite knows only leaves that are numbers.",
            parameter="linear_leaves",
            allowed="False",
            hint="Fit it with linear_leaves=False, or use to_onnx.",
        )
    return TreeliteWriter(whole, _outputs_of(whole)).write(builder)


@dataclass(frozen=True)
class _Outputs:
    """How treelite calls the outputs.

    Attributes
    ----------
    n_classes : for each target.
    postprocessor, alpha : the link and its scale.
    by_target : whether outputs are targets; otherwise they are classes of one.
    """

    task: str
    n_classes: list[int]
    postprocessor: str
    alpha: float = 1.0
    by_target: bool = False


def _outputs_of(whole: TreeSum) -> _Outputs:
    link, n_outputs = whole.link, whole.n_outputs
    if isinstance(link, Ascending):
        raise InvalidInput(
            f"This {whole.name} predicts several quantiles in ascending order, and treelite cannot sort.",
            parameter="quantile",
            allowed="one quantile",
            hint="Fit a model for each quantile, or use to_onnx.",
        )
    if isinstance(link, NumberLink):
        return _Outputs("kRegressor", [1] * n_outputs, _NUMBERS[link.name], by_target=True)
    if isinstance(link, Logistic):
        return _Outputs("kBinaryClf", [1], "sigmoid", link.scale)
    if isinstance(link, Hinge):
        return _Outputs("kBinaryClf", [1], "hinge")
    if isinstance(link, Softmax):
        return _Outputs("kMultiClf", [n_outputs], "softmax")
    if isinstance(link, OneVersusRest):
        return _Outputs("kMultiClf", [n_outputs], "multiclass_ova", link.scale)
    if isinstance(link, OneClass) or n_outputs == 1:
        return _Outputs("kRegressor", [1], "identity", by_target=True)
    assert isinstance(link, Shares)
    return _Outputs("kMultiClf", [len(own) for own in whole.classes], "identity_multiclass")


class TreeliteWriter:
    """Hands trees to treelite, node by node."""

    def __init__(self, whole: TreeSum, outputs: _Outputs) -> None:
        self._outputs = outputs
        self._n_outputs = whole.n_outputs
        one_class = isinstance(whole.link, OneClass)
        self._trees = [] if one_class else whole.trees
        self._whole_leaves = any(tree.value.shape[1] > 1 for tree in self._trees)
        start = np.ones(1) if one_class else whole.start
        # A mean of whole numbers is exact as treelite takes it; with a start it would not be the same mean.
        self._averages = (
            whole.divisor == len(self._trees)
            and not start.any()
            and (self._whole_leaves or self._n_outputs == 1)
        )
        self._factor = whole.unit if self._averages else whole.unit / whole.divisor
        self._start = start * self._factor
        self._n_features = len(whole.readings.features)

    def write(self, treelite: ModuleType) -> Any:
        outputs, n_trees = self._outputs, max(1, len(self._trees))
        most = max(outputs.n_classes)
        owners = self._owners()
        builder = treelite.ModelBuilder(
            threshold_type="float64",
            leaf_output_type="float64",
            metadata=treelite.Metadata(
                num_feature=self._n_features,
                task_type=outputs.task,
                average_tree_output=bool(self._averages),
                num_target=len(outputs.n_classes),
                num_class=outputs.n_classes,
                leaf_vector_shape=(len(outputs.n_classes), most) if self._whole_leaves else (1, 1),
            ),
            tree_annotation=treelite.TreeAnnotation(n_trees, *owners),
            postprocessor=treelite.PostProcessorFunc(
                outputs.postprocessor, sigmoid_alpha=float(outputs.alpha)
            ),
            base_scores=self._spread(self._start).tolist(),
        )
        for tree in self._trees:
            self._add(builder, tree)
        if not self._trees:
            _add_nothing(builder, self._leaf(np.zeros(1), 0))
        return builder.commit()

    def _owners(self) -> tuple[list[int], list[int]]:
        """The target and the class of each tree; -1 for all of them."""
        outputs = [tree.output for tree in self._trees] or [0]
        if not self._whole_leaves:
            return (outputs, [0] * len(outputs)) if self._outputs.by_target else ([0] * len(outputs), outputs)
        several_targets = len(self._outputs.n_classes) > 1
        several_classes = max(self._outputs.n_classes) > 1
        n_trees = len(outputs)
        return [-1 if several_targets else 0] * n_trees, [-1 if several_classes else 0] * n_trees

    def _add(self, builder: Any, tree: FlatTree) -> None:
        builder.start_tree()
        columns = (tree.feature, tree.threshold, tree.missing_left, tree.left, tree.right)
        for node, (feature, threshold, missing_left, left, right) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            builder.start_node(node)
            if feature < 0:
                builder.leaf(self._leaf(tree.value[node], tree.output))
            elif node in tree.sets:
                builder.categorical_test(
                    feature,
                    default_left=missing_left,
                    category_list=tree.sets[node].tolist(),
                    category_list_right_child=False,
                    left_child_key=left,
                    right_child_key=right,
                )
            else:
                builder.numerical_test(
                    feature,
                    threshold,
                    default_left=missing_left,
                    opname="<=",
                    left_child_key=left,
                    right_child_key=right,
                )
            builder.end_node()
        builder.end_tree()

    def _leaf(self, value: FloatArray, output: int) -> Any:
        if not self._whole_leaves:
            return float(value[0] * self._factor)
        outputs = np.zeros(self._n_outputs)
        outputs[output : output + len(value)] = value * self._factor
        return self._spread(outputs).tolist()

    def _spread(self, outputs: AnyArray) -> AnyArray:
        """The outputs in rows of targets; targets with fewer classes than others are filled up with zeros."""
        most = max(self._outputs.n_classes)
        spread = np.zeros((len(self._outputs.n_classes), most))
        first = 0
        for row, n_classes in enumerate(self._outputs.n_classes):
            spread[row, :n_classes] = outputs[first : first + n_classes]
            first += n_classes
        return spread.ravel()


def _add_nothing(builder: Any, leaf: Any) -> None:
    builder.start_tree()
    builder.start_node(0)
    builder.leaf(leaf)
    builder.end_node()
    builder.end_tree()
