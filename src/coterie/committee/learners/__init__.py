"""Learners on a matrix of numbers, or by leaves, that serve committees alone."""
