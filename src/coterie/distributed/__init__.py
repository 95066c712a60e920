"""Training on many machines: a table whose partitions are on the workers of a cluster.

Words
  partition   some rows of the table that follow each other, as the cluster holds them
  block       the bins of a partition, made with the cuts of the whole table
  member      a worker that takes part in a fit; it has the rows from `first_row` on
  gang        all members, from when they begin together until they end or one is lost. A new gang has a new name, and
              goes on from the last round that anybody knows
  session     the thread of a member that runs the program of the fit
  epoch       rounds that a gang grows between two looks of the client

The core (`collective`, `session`, `partitions`, `knowledge`) knows no cluster. `on_dask` is Dask's side of it.
"""
