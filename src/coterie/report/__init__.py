"""One page about a fitted model that opens without a network: how well it predicts, why, and what may be wrong."""

from coterie.report.columns.profile import TableProfile, profile_of
from coterie.report.document import Report, build

__all__ = ["Report", "TableProfile", "build", "profile_of"]
