"""Pages are tested as doctests; the settings of Sphinx and what extends it are tested in tests/docs."""

collect_ignore = ["conf.py", "extensions"]
