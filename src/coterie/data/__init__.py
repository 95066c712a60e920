"""From the user's table to the one shape that the engine takes.

The steps, in order: `table` reads what the user has into named columns, `schema` compares it with
what fit saw, `encoding` turns columns into floats and category codes, `target` reads labels and weights,
and `prepare` runs them all for `fit` and for `predict`.
"""
