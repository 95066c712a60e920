"""Ensembles of any learners: fitting them to resamples, and what they predict, out of fold too."""
