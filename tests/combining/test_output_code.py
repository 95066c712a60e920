"""Output codes: matrices that tell all classes apart, decoding by hand, and members that may be wrong."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB

from coterie import DecisionTreeClassifier, OutputCodeClassifier
from coterie.combining._code_matrix import LOSSES, code_matrix, coupled, distances, separation
from coterie.errors import InvalidParameter, InvalidType
from tests.naive.output_code import naive_distances, opposed

X, CODES = make_blobs(240, centers=6, n_features=4, cluster_std=2.5, random_state=0)
LABELS = np.array(["ash", "elm", "fir", "oak", "pine", "yew"])[CODES]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(["dense", "sparse"]),
    n_classes=st.integers(3, 50),
    code_size=st.sampled_from([1.0, 1.5, 2.0]),
    seed=st.integers(0, 999),
)
def test_random_codes_tell_all_classes_apart_and_waste_no_member(
    kind: str, n_classes: int, code_size: float, seed: int
) -> None:
    code = code_matrix(kind, n_classes, code_size, seed)

    assert code.shape[1] <= int(n_classes * code_size)
    some = np.random.default_rng(seed).choice(n_classes, min(n_classes, 8), replace=False)
    assert 1 <= separation(code) <= min(opposed(code, a, b) for a in some for b in some if a < b)
    if n_classes <= 8:
        assert separation(code) == min(opposed(code, a, b) for a in range(n_classes) for b in range(a))
    columns = {tuple(sign * code[:, j]) for j in range(code.shape[1]) for sign in (-1, 1)}
    assert len(columns) == 2 * code.shape[1], "equal or opposite columns"
    assert ((code == 1).any(axis=0) & (code == -1).any(axis=0)).all()
    np.testing.assert_array_equal(code, code_matrix(kind, n_classes, code_size, seed))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("n_classes", range(3, 51))
def test_no_seed_of_a_thousand_gives_a_code_with_equal_rows_or_columns(kind: str, n_classes: int) -> None:
    for seed in range(1000):
        code = code_matrix(kind, n_classes, 1.5, seed)
        assert separation(code) >= 1
        columns = {tuple(sign * code[:, j]) for j in range(code.shape[1]) for sign in (-1, 1)}
        assert len(columns) == 2 * code.shape[1]


@pytest.mark.parametrize("n_classes", range(3, 11))
def test_the_exhaustive_code_has_every_part_once(n_classes: int) -> None:
    code = code_matrix("exhaustive", n_classes, 1.5, 0)

    assert code.shape == (n_classes, 2 ** (n_classes - 1) - 1)
    assert len({tuple(column) for column in code.T}) == code.shape[1]
    assert separation(code) == 2 ** (n_classes - 2)


@pytest.mark.parametrize("n_classes", [3, 5, 8, 9, 16, 33])
def test_as_few_members_as_can_be_are_enough(n_classes: int) -> None:
    least = int(np.ceil(np.log2(n_classes)))

    assert separation(code_matrix("dense", n_classes, (least + 0.01) / n_classes, 0)) >= 1
    with pytest.raises(InvalidParameter, match=f"code_size=.*fewer than {least}"):
        code_matrix("dense", n_classes, (least - 0.5) / n_classes, 0)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), decoding=st.sampled_from(sorted(LOSSES)))
def test_distances_are_those_by_hand(seed: int, decoding: str) -> None:
    rng = np.random.default_rng(seed)
    code = rng.integers(-1, 2, (4, 6))
    scores = rng.normal(size=(5, 6)) * rng.integers(0, 2, (5, 6))

    np.testing.assert_allclose(distances(code, scores, decoding), naive_distances(code, scores, decoding))


@pytest.mark.parametrize("wrong", [0, 1, 2, 3])
def test_the_exhaustive_code_makes_up_for_members_that_are_wrong(wrong: int) -> None:
    code = code_matrix("exhaustive", 5, 1.5, 0)
    rng = np.random.default_rng(0)
    assert (separation(code) - 1) // 2 == 3

    for truth in range(5):
        for _ in range(20):
            said = code[truth].astype(float)
            said[rng.choice(15, wrong, replace=False)] *= -1
            assert distances(code, said[None], "hamming").argmin() == truth


class Liar:
    """A fitted member that says the opposite of another."""

    def __init__(self, member: Any) -> None:
        self.member = member

    def decision_function(self, X: Any) -> Any:
        return -self.member.decision_function(X)


def test_a_fitted_model_with_a_lying_member_still_knows_clear_rows() -> None:
    clear, codes = make_blobs(120, centers=5, cluster_std=0.2, random_state=3)
    model = OutputCodeClassifier(DecisionTreeClassifier(), code="exhaustive", decoding="hamming")
    model.set_params(estimator=LinearDiscriminantAnalysis()).fit(clear, codes)
    right = model.predict(clear) == codes
    votes = np.sign(np.stack([own.decision_function(clear) for own in model.estimators_], axis=1))
    sure = right & ((votes != model.code_book_[codes]).sum(axis=1) <= 2)

    model.estimators_[4] = Liar(model.estimators_[4])

    assert sure.mean() > 0.5
    assert (model.predict(clear)[sure] == codes[sure]).all()


@pytest.mark.parametrize("decoding", ["hinge", "exponential", "logistic"])
def test_one_against_the_rest_decides_as_scikit_learn_does(decoding: str) -> None:
    learner = RidgeClassifier()
    model = OutputCodeClassifier(learner, code="one_vs_rest", decoding=decoding).fit(X, LABELS)
    peer = OneVsRestClassifier(learner).fit(X, LABELS)

    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    scores = np.stack([own.decision_function(X) for own in model.estimators_], axis=1)
    np.testing.assert_allclose(scores, peer.decision_function(X))


def test_one_against_the_rest_by_probabilities_decides_as_scikit_learn_does() -> None:
    model = OutputCodeClassifier(GaussianNB(), code="one_vs_rest").fit(X, LABELS)
    peer = OneVsRestClassifier(GaussianNB()).fit(X, LABELS)

    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


def test_one_against_one_votes_as_scikit_learn_does_where_votes_decide() -> None:
    learner = LinearDiscriminantAnalysis()
    model = OutputCodeClassifier(learner, code="one_vs_one", decoding="hamming").fit(X, LABELS)
    peer = OneVsOneClassifier(learner).fit(X, LABELS)

    found = np.sort(model.decision_function(X), axis=1)
    decided = found[:, -1] > found[:, -2]
    assert decided.mean() > 0.9
    np.testing.assert_array_equal(model.predict(X)[decided], peer.predict(X)[decided])


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["dense", "sparse", "one_vs_rest", "one_vs_one", "exhaustive"]),
)
def test_probabilities_that_agree_with_all_members_are_found(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    code = code_matrix(kind, 5, 2.0, seed)
    p = rng.dirichlet(np.full(5, 3.0), 4)
    said = (p @ (code == 1)) / (p @ (code != 0))

    found = coupled(code, said, rng.uniform(0.5, 1.0, code.shape[1]))

    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose((found @ (code == 1)) / (found @ (code != 0)), said, atol=0.02)
    if kind != "sparse":  # where members may leave several answers open
        np.testing.assert_allclose(found, p, atol=0.02)


@pytest.mark.parametrize("code", ["dense", "sparse", "exhaustive", "one_vs_rest", "one_vs_one"])
@pytest.mark.parametrize("decoding", ["auto", "hamming", "logistic"])
def test_every_code_learns(code: str, decoding: str) -> None:
    model = OutputCodeClassifier(GaussianNB(), code=code, decoding=decoding, random_state=0).fit(X, LABELS)

    assert model.score(X, LABELS) > 0.6
    assert len(model.estimators_) == model.code_book_.shape[1]
    assert hasattr(model, "predict_proba") == (decoding == "auto")
    assert hasattr(model, "decision_function") == (decoding != "auto")
    if decoding == "auto":
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_members_learn_the_sides_of_the_classes_that_take_part() -> None:
    mine = [[1, 1, 1], [1, -1, 1], [-1, 0, 1], [-1, 0, -1], [1, 0, -1], [-1, 1, 1]]
    mine = np.hstack([mine, 2 * np.eye(6, dtype=int) - 1])
    model = OutputCodeClassifier(GaussianNB(), code=mine).fit(X, LABELS)

    rows = np.isin(LABELS, ["ash", "elm", "yew"])
    alone = GaussianNB().fit(X[rows], np.isin(LABELS[rows], ["ash", "yew"]))
    np.testing.assert_allclose(model.estimators_[1].theta_, alone.theta_)


CASES: list[tuple[Any, str]] = [
    ([[1], [-1]], r"shape \(2, 1\); expected a row for each of the 6 classes"),
    ([[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 0], [2, 0]], "code holds 2; expected -1, 0 and 1"),
    (
        [[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 1], [-1, 1]],
        r"\['ash', 'pine'\] apart|\['fir', 'yew'\] apart",
    ),
    ([[1, 1]] * 6, "column 0 is .*to tell apart"),
    ([["a"]] * 6, "no matrix of numbers"),
]


@pytest.mark.parametrize(("code", "message"), CASES)
def test_a_matrix_that_cannot_work_is_refused(code: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        OutputCodeClassifier(GaussianNB(), code=code).fit(X, LABELS)


def test_what_learners_cannot_do_is_said() -> None:
    with pytest.raises(InvalidParameter, match="needs predict_proba, which RidgeClassifier"):
        OutputCodeClassifier(RidgeClassifier(), decoding="probabilistic").fit(X, LABELS)
    with pytest.raises(InvalidType, match="LinearDiscriminantAnalysis does not support sample weights"):
        OutputCodeClassifier(LinearDiscriminantAnalysis()).fit(X, LABELS, sample_weight=np.ones(240))
    with pytest.raises(InvalidParameter, match="expected at most 10 classes"):
        OutputCodeClassifier(GaussianNB(), code="exhaustive").fit(
            np.arange(22.0)[:, None], np.arange(22) % 11
        )


def test_a_regressor_is_taught_the_signs() -> None:
    model = OutputCodeClassifier(Ridge(), code="one_vs_rest").fit(X, LABELS)

    alone = Ridge().fit(X, np.where(LABELS == "elm", 1.0, -1.0))
    np.testing.assert_allclose(model.estimators_[1].coef_, alone.coef_)
    peer = RidgeClassifier().fit(X, LABELS)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


def test_a_class_without_weight_leaves_members_with_one_side() -> None:
    weight = (LABELS != "oak").astype(float)
    model = OutputCodeClassifier(GaussianNB(), code="one_vs_rest").fit(X, LABELS, sample_weight=weight)
    without = OutputCodeClassifier(GaussianNB(), code="one_vs_rest").fit(X[weight > 0], LABELS[weight > 0])

    assert model.classes_.tolist() == ["ash", "elm", "fir", "oak", "pine", "yew"]
    assert "oak" not in model.predict(X)
    agree = model.predict(X) == without.predict(X)
    assert agree.mean() > 0.95


def test_a_data_frame_keeps_its_names() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = OutputCodeClassifier(GaussianNB(), random_state=0).fit(frame, LABELS)

    assert all(own.feature_names_in_.tolist() == ["a", "b", "c", "d"] for own in model.estimators_)
    with pytest.raises(ValueError, match="Column 0 is 'b' and was 'a'"):
        model.predict(frame[["b", "a", "c", "d"]])


def test_jobs_do_not_change_a_bit() -> None:
    models = [
        OutputCodeClassifier(DecisionTreeClassifier(max_features=2), n_jobs=n_jobs, random_state=0).fit(
            X, LABELS
        )
        for n_jobs in (1, 2, 3)
    ]
    said = [model.predict_proba(X) for model in models]

    np.testing.assert_array_equal(said[0], said[1])
    np.testing.assert_array_equal(said[0], said[2])
    np.testing.assert_array_equal(said[0][:1], models[0].predict_proba(X[:1]))
