"""Without matplotlib a picture is still a page, an SVG and a specification; drawing says what to install."""

from tests.helpers.hidden_packages import run_without


def test_pictures_need_no_matplotlib_but_for_png() -> None:
    program = """
        import tempfile
        from pathlib import Path

        from coterie.errors import MissingPackage
        from coterie.plots import RoundsDisplay

        display = RoundsDisplay([0.2, 0.1], [0.3, 0.2])
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("html", "svg", "json"):
                path = Path(folder) / f"picture.{ending}"
                display.save(path)
                print(path.stat().st_size > 500, end=" ")
            for draw in (display.plot, lambda: display.save(Path(folder) / "picture.png")):
                try:
                    draw()
                except MissingPackage as error:
                    print()
                    print(error, end="")
    """
    first, plot, png = run_without(["matplotlib"], program).splitlines()

    assert first.split() == ["True"] * 3
    assert plot == (
        "RoundsDisplay.plot uses 'matplotlib.pyplot', which is not installed. Install it with: "
        "pip install 'coterie[plot]'"
    )
    assert png.endswith("Install it with: pip install 'coterie[plot]'")


def test_importing_coterie_imports_neither_diagnostics_nor_plots_nor_reports() -> None:
    program = """
        import coterie

        print(*[name in sys.modules for name in ("coterie.diagnostics", "coterie.plots", "jinja2")], end=" ")
        from coterie import diagnostics, plots

        print(diagnostics.margins.__name__, plots.MarginDisplay.__name__, "matplotlib" in sys.modules)
    """

    assert run_without([], program) == "False False False margins MarginDisplay False"
