"""A table in, a trusted ensemble out: committees, and a fair comparison of all families."""

from coterie.committee.committee import CommitteeClassifier, CommitteeRegressor
from coterie.committee.comparison import Comparison, compare
from coterie.committee.distilled import KeptGain
from coterie.committee.features.generated_features import GeneratedFeatures
from coterie.committee.leaderboard import Leaderboard
from coterie.committee.listing import Listing
from coterie.data.table_features import TableFeatures

__all__ = [
    "CommitteeClassifier",
    "CommitteeRegressor",
    "Comparison",
    "GeneratedFeatures",
    "KeptGain",
    "Leaderboard",
    "Listing",
    "TableFeatures",
    "compare",
]
