"""Without skops and safetensors, models of coterie are saved and loaded; members of others say what to install."""

from tests.helpers.hidden_packages import run_without


def test_files_need_skops_for_foreign_members_only() -> None:
    program = """
        import io

        from sklearn.linear_model import LinearRegression

        import coterie

        X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0]
        file = io.BytesIO()
        coterie.save(coterie.RandomForestRegressor(n_estimators=2).fit(X, y), file)
        file.seek(0)
        print(len(coterie.load(file).forest_))
        try:
            coterie.save(coterie.VotingRegressor([("line", LinearRegression())]).fit(X, y), file)
        except coterie.errors.MissingPackage as error:
            print(error, end="")
    """
    n_trees, message = run_without(["skops", "safetensors"], program).splitlines()

    assert n_trees == "2"
    assert message == (
        "A model file with members of other libraries uses 'skops.io', which is not installed. Install it with: "
        "pip install 'coterie[export]'"
    )
