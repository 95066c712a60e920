"""Without pandas, polars or pyarrow the data layer reads everything that does not come from them."""

import pytest

from tests.helpers.hidden_packages import run_without

PLAIN = """
    import numpy as np
    from scipy import sparse
    from coterie.data.prepare import prepare_prediction, prepare_training
    from coterie.datasets import make_messy

    class Model:
        pass

    X, y = make_messy(300)
    tables = {
        "dict": (X, y),
        "numpy": (np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]),
        "objects": (np.array([["a", 1], ["b", None]], dtype=object), [0, 1]),
        "rows": ([[1, "x"], [2, "y"]], ["no", "yes"]),
        "sparse": (sparse.csr_array(np.eye(3)), [0, 1, 1]),
        "text": (np.array([["a"], ["b"]]), [0, 1]),
        "dates": (np.array([["2020-01-01"], ["NaT"]], dtype="M8[D]"), [0, 1]),
    }
    for name, (X, y) in tables.items():
        model = Model()
        train = prepare_training(model, X, y, task="classification")
        again = prepare_prediction(model, X)
        for one, other in zip(train.encoded.values, again.values):
            np.testing.assert_array_equal(one, other)
        print(name, end=" ")
"""


@pytest.mark.parametrize(
    "hidden", [["pandas"], ["pyarrow"], ["pandas", "pyarrow"], ["pandas", "pyarrow", "polars"]], ids="+".join
)
def test_plain_tables_need_no_frame_library(hidden: list[str]) -> None:
    assert run_without(hidden, PLAIN) == "dict numpy objects rows sparse text dates"


def test_polars_needs_neither_pandas_nor_pyarrow() -> None:
    program = """
        import numpy as np
        from coterie.data.prepare import prepare_prediction, prepare_training
        from coterie.datasets import make_messy

        class Model:
            pass

        X, y = make_messy(300, as_="polars")
        model = Model()
        train = prepare_training(model, X, y, task="classification")
        for one, other in zip(train.encoded.values, prepare_prediction(model, X).values):
            np.testing.assert_array_equal(one, other)
        print(*train.schema.kinds)
    """
    kinds = run_without(["pandas", "pyarrow"], program)

    assert kinds == "numeric numeric numeric nominal ordered nominal numeric numeric numeric"


def test_pandas_needs_neither_polars_nor_pyarrow() -> None:
    program = """
        from coterie.data.prepare import read_table
        from coterie.datasets import make_messy

        print(*(column.kind for column in read_table(make_messy(300, as_="pandas")[0]).columns))
    """
    kinds = run_without(["polars", "pyarrow"], program)

    assert kinds == "numeric numeric numeric nominal ordered nominal numeric numeric numeric"


def test_asking_for_a_frame_without_its_library_says_what_to_install() -> None:
    program = """
        from coterie.datasets import make_messy
        from coterie.errors import MissingPackage

        try:
            make_messy(5, as_="pandas")
        except MissingPackage as error:
            print(error)
    """

    assert run_without(["pandas"], program) == (
        "make_messy(as_='pandas') uses 'pandas', which is not installed. "
        "Install it with: pip install 'pandas'"
    )


def test_importing_the_data_layer_imports_no_frame_library_beyond_scikit_learns() -> None:
    program = """
        import sklearn.utils.validation

        before = set(sys.modules)
        import coterie.data.prepare

        print(*({"pandas", "polars", "pyarrow"} & (set(sys.modules) - before)))
    """

    assert run_without([], program) == ""
