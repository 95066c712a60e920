"""Ensembles of any learners: fitting them to resamples, asking them, and what they predict out of fold."""
