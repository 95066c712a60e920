"""Models of trees in the formats of other runtimes."""
