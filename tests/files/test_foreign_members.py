"""Members of other libraries: stored by skops, and made again only from types that are trusted."""

import io
import zipfile
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import coterie
from coterie.errors import ModelFileError
from tests.helpers.mutations import Opened, loaded, stored
from tests.helpers.oracles import trees_have_to_be_trusted

pytest.importorskip("skops")

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + X[:, 1] ** 2
LABELS = np.where(Y > 0.5, "high", "low")


class Mean(RegressorMixin, BaseEstimator):
    """A learner of one's own."""

    def fit(self, X: Any, y: Any) -> "Mean":
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


MODELS = {
    "voting": coterie.VotingClassifier(
        [("linear", LogisticRegression()), ("tree", coterie.DecisionTreeClassifier())]
    ),
    "stacking": coterie.StackingClassifier(
        [("bayes", GaussianNB()), ("svc", SVC())], final_estimator=LogisticRegression(), cv=KFold(3)
    ),
    "bagging": coterie.BaggingClassifier(GaussianNB(), n_estimators=3, random_state=0),
    "adaboost": coterie.AdaBoostClassifier(GaussianNB(), n_estimators=3, random_state=0),
    "output code": coterie.OutputCodeClassifier(LogisticRegression(), random_state=0),
    "selection": coterie.SelectionClassifier([("a", GaussianNB()), ("b", LogisticRegression())]),
    "pipeline": coterie.BaggingClassifier(
        make_pipeline(StandardScaler(), coterie.DecisionTreeClassifier()), n_estimators=2, random_state=0
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_foreign_members_come_back_with_the_same_bits(name: str) -> None:
    model = MODELS[name].fit(X, LABELS)
    data = stored(model)

    twin = loaded(data)

    assert np.array_equal(twin.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        assert np.array_equal(twin.predict_proba(X), model.predict_proba(X))
    assert stored(twin) == data


def test_init_of_boosting_comes_back() -> None:
    for init in (Ridge(), FrozenEstimator(LinearRegression().fit(X, Y)), DummyRegressor()):
        model = coterie.GradientBoostingRegressor(n_estimators=3, init=init).fit(X, Y)
        twin = loaded(stored(model))
        assert np.array_equal(twin.predict(X), model.predict(X))


def test_types_that_skops_does_not_trust_are_listed_all_at_once() -> None:
    members = [("own", Mean()), ("again", Mean())]
    model = coterie.VotingRegressor(members).fit(X, Y)
    tree = coterie.BaggingClassifier(DecisionTreeClassifier(), n_estimators=2).fit(X, LABELS)

    with pytest.raises(ModelFileError, match=r"trusted=\['tests.files.test_foreign_members.Mean'\]"):
        loaded(stored(model))
    if trees_have_to_be_trusted():
        with pytest.raises(ModelFileError, match=r"trusted=\['sklearn.tree._tree.Tree'\]"):
            loaded(stored(tree))
    twin = loaded(stored(tree), trusted=["sklearn.tree._tree.Tree"])
    assert np.array_equal(twin.predict(X), tree.predict(X))
    assert stored(twin) == stored(tree)


def test_a_scorer_is_stored_and_has_to_be_trusted() -> None:
    model = coterie.RandomForestClassifier(
        n_estimators=2, oob_score=get_scorer("neg_log_loss"), random_state=0
    )
    with pytest.raises(ModelFileError, match=r"_Scorer"):
        loaded(stored(model))


def test_models_of_ours_deep_inside_of_others_are_named() -> None:
    search = GridSearchCV(coterie.DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2)
    model = coterie.VotingClassifier([("search", search)])
    with pytest.raises(ModelFileError, match=r"estimators\[0\]\[1\] is a sklearn.*GridSearchCV.*coterie"):
        stored(model)


def test_requests_of_metadata_come_back() -> None:
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        members = [
            ("theirs", Ridge().set_fit_request(sample_weight=True)),
            ("ours", coterie.DecisionTreeRegressor().set_fit_request(sample_weight="weight")),
        ]
        model = coterie.VotingRegressor(members)
        twin = loaded(stored(model))
        for (_, one), (_, other) in zip(model.estimators, twin.estimators, strict=True):
            assert str(other.get_metadata_routing()) == str(one.get_metadata_routing())
        assert stored(twin) == stored(model)


def archive_of(data: bytes) -> tuple[Opened, str]:
    opened = Opened(data)
    return opened, [node["skops"] for node in opened.nodes if "skops" in node][-1]


def packed(files: dict[str, bytes], compression: int) -> Any:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return np.frombuffer(out.getvalue(), dtype=np.uint8)


def test_compressed_and_lying_archives_are_refused() -> None:
    data = stored(MODELS["bagging"].fit(X, LABELS))
    opened, name = archive_of(data)
    with zipfile.ZipFile(io.BytesIO(opened.tensors[name].tobytes())) as archive:
        files = {each: archive.read(each) for each in archive.namelist()}
    array = next(each for each in files if each.endswith(".npy"))

    attacks = {
        "compressed part": packed({**files, "bomb": bytes(10**6)}, zipfile.ZIP_DEFLATED),
        "not as large as it says": packed(
            {**files, array: files[array].replace(b"(2,", b"(9,")}, zipfile.ZIP_STORED
        ),
        "nested too deeply": packed(
            {**files, "schema.json": b"[" * 10**5 + b"]" * 10**5}, zipfile.ZIP_STORED
        ),
        "no member that skops can read": packed({"schema.json": b"{}"}, zipfile.ZIP_STORED),
        "can read": np.zeros(100, np.uint8),
    }
    for words, tensor in attacks.items():
        opened.tensors[name] = tensor
        with pytest.raises(ModelFileError, match=words):
            loaded(opened.data())


def test_whether_equal_constants_are_one_object_does_not_change_the_bytes() -> None:
    half = float("0.5")
    shared, apart = (
        stored(coterie.VotingRegressor([("line", Ridge(alpha=one, tol=other))]))
        for one, other in ((half, half), (half, float("0.5")))
    )
    assert shared == apart
    assert stored(loaded(shared)) == shared
