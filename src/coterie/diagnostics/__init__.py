"""What a fitted ensemble is like inside: margins, the bounds that theory has for them, and errors by round."""

from coterie.diagnostics import bounds
from coterie.diagnostics.error_by_round import error_by_round
from coterie.diagnostics.margins import Margins, margins

__all__ = ["Margins", "bounds", "error_by_round", "margins"]
