"""From predictions to codes of classes, for several targets of two classes each."""

from types import SimpleNamespace

import numpy as np
import pytest

from coterie.members.oof_score import predicted_codes


@pytest.mark.parametrize(
    ("method", "predictions", "codes"),
    [
        ("predict_proba", [[0.3, 0.7], [0.9, 0.1]], [[0.0, 1.0], [1.0, 0.0]]),
        ("decision_function", [[0.3, -0.7], [-0.9, 0.1]], [[1.0, 0.0], [0.0, 1.0]]),
    ],
)
def test_each_target_has_the_threshold_of_its_response_method(method, predictions, codes):
    response = SimpleNamespace(is_vote=False, classes=([0, 1], [0, 1]), method=method)
    assert predicted_codes(np.array(predictions), response, (2, 2)).tolist() == codes
