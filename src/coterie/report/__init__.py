"""One page about a fitted model that opens without a network: how well it predicts, why, and what may be wrong."""

from coterie.report.columns.profile import TableProfile, profile_of
from coterie.report.document import Report, build
from coterie.report.forms.model_card import model_card

__all__ = ["Report", "TableProfile", "build", "model_card", "profile_of"]
