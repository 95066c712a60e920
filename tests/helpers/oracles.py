"""Tests for some versions of another library alone: where it is the oracle, or has what is tested."""

import pytest
import sklearn
from packaging.version import Version


def needs_scikit_learn(version: str, reason: str) -> pytest.MarkDecorator:
    """Skip a test with an older scikit-learn."""
    return pytest.mark.skipif(
        Version(sklearn.__version__) < Version(version), reason=f"scikit-learn before {version}: {reason}"
    )


needs_callbacks = needs_scikit_learn("1.9", "no callbacks")
