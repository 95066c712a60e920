"""Some of the trees of a packed forest, as a forest of their own."""

import coterie._engine as _engine


def some_trees(forest: _engine.PackedForest, places: set[int]) -> _engine.PackedForest:
    """The trees at these places, as they are and in their order."""
    state = forest.__getstate__()
    blocks, first = [], 0
    for thresholds, trees in state["groves"]:
        kept = [tree for number, tree in enumerate(trees, start=first) if number in places]
        first += len(trees)
        if kept:
            blocks.append((thresholds, kept))
    packed = _engine.PackedForest.__new__(_engine.PackedForest)
    packed.__setstate__({**state, "groves": blocks})
    return packed
