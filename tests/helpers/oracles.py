"""Tests for some versions of another library alone: where it is the oracle, or has what is tested."""

from typing import Any

import pytest
import sklearn
from packaging.version import Version
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import get_tags


def needs_scikit_learn(version: str, reason: str) -> pytest.MarkDecorator:
    """Skip a test with an older scikit-learn."""
    return pytest.mark.skipif(
        Version(sklearn.__version__) < Version(version), reason=f"scikit-learn before {version}: {reason}"
    )


def wrong_checks(model: Any) -> set[str]:
    """Checks of an older scikit-learn that fail for any model of this kind.

    Before 1.7 it calls the class of the first row the first of two, and compares rows before and after a shuffle.
    """
    of_classes = get_tags(model).classifier_tags
    if Version(sklearn.__version__) >= Version("1.7") or of_classes is None or of_classes.multi_class:
        return set()
    return {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}


def trees_have_to_be_trusted() -> bool:
    """Whether skops asks before it makes a tree of scikit-learn; 0.13 does not."""
    from skops import io

    fitted = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    return bool(io.get_untrusted_types(data=io.dumps(fitted)))


needs_callbacks = needs_scikit_learn("1.9", "no callbacks")
