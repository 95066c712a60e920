"""Without onnx and treelite, exporting says what to install, and importing models works as before."""

from pathlib import Path

from tests.helpers.hidden_packages import run_without

EXAMPLE = Path(__file__).parents[2] / "examples" / "export_onnx.py"


def test_exporting_says_what_to_install() -> None:
    program = """
        from coterie import DecisionTreeRegressor
        from coterie.errors import MissingPackage
        from coterie.export import feature_matrix, to_onnx, to_treelite

        tree = DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
        print(feature_matrix(tree, [[1.0]]))
        for export in (to_onnx, to_treelite):
            try:
                export(tree)
            except MissingPackage as error:
                print(error)
    """
    matrix, onnx, treelite = run_without(["onnx", "treelite"], program).splitlines()
    assert matrix == "[[1.]]"
    assert onnx == (
        "Writing an ONNX model uses 'onnx', which is not installed. Install it with: pip install 'coterie[export]'"
    )
    assert treelite == (
        "Writing a treelite model uses 'treelite.model_builder', which is not installed. Install it with: "
        "pip install 'coterie[export]'"
    )


def test_the_packages_are_imported_only_when_they_are_used() -> None:
    program = """
        import coterie.export

        print("onnx" in sys.modules, "treelite" in sys.modules)
    """
    assert run_without([], program) == "False False"


def test_the_example_says_what_it_needs() -> None:
    program = f"""
        import importlib.util
        import runpy

        importlib.util.find_spec = lambda name: None
        runpy.run_path({str(EXAMPLE)!r}, run_name="__main__")
    """
    assert run_without(["onnx", "onnxruntime"], program).startswith("This example needs two more packages")
