"""Without the packages of the command line, it says what to install, and the library works as before."""

from tests.helpers.hidden_packages import run_without


def test_the_command_line_says_what_to_install() -> None:
    program = """
        import io

        import coterie
        from coterie.cli.main import run

        print("coterie.cli.app" in sys.modules, coterie.compare.__name__)
        try:
            sys.stderr = io.StringIO()
            run()
        except SystemExit as end:
            print(end.code, sys.stderr.getvalue())
    """
    library, command = run_without(["typer", "rich", "duckdb"], program).splitlines()

    assert library == "False compare"
    assert command == (
        "1 coterie: The command line uses 'typer', which is not installed. Install it with: pip install 'coterie[cli]'"
    )


def test_reading_tables_is_part_of_it() -> None:
    program = """
        import runpy

        sys.argv, sys.stderr = ["coterie", "doctor"], sys.stdout
        try:
            runpy.run_module("coterie", run_name="__main__")
        except SystemExit as end:
            print(end.code)
    """
    message, code = run_without(["duckdb"], program).splitlines()

    assert message.endswith(
        "uses 'duckdb', which is not installed. Install it with: pip install 'coterie[cli]'"
    )
    assert code == "1"
