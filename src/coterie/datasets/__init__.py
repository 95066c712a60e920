"""Tables to try things on: made up ones with everything that real tables have, and scikit-learn's own."""

from coterie.datasets.messy import make_messy
from coterie.datasets.tables import load_table

__all__ = ["load_table", "make_messy"]
