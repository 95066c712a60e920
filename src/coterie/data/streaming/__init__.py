"""Tables that are read in batches, again and again, because they are larger than memory.

`scan` names such a table. A fit *passes* over it: the first pass learns kinds, levels and the target, and keeps a
sample of rows from which the cuts of bins are chosen; the second makes bins. The model has the bits of a fit in memory.
"""
