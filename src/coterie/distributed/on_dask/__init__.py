"""Distributed fits on Dask: its workers hold partitions and blocks, and exchange histograms over their own connections.

Everything here needs the extra `coterie[dask]`, and is imported when a collection of Dask is met.
"""
