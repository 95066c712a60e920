"""Lists that grow by an entry a round, as the parts of a checkpoint hold them."""

from collections.abc import Mapping
from typing import Any

from coterie.errors import ModelFileError
from coterie.fitting.checkpoint_writer import CheckpointWriter, reading_checkpoint


class CheckpointedLists:
    """Gathers what lists have grown by since the last part.

    The first `n_known` entries are in the checkpoint already. An entry counts once every list has it: a fit may be
    interrupted between two of them.
    """

    def __init__(self, checkpoint: CheckpointWriter, lists: Mapping[str, list[Any]], n_known: int) -> None:
        self._checkpoint = checkpoint
        self._lists = lists
        self._kept = n_known

    @property
    def _n_whole(self) -> int:
        return min(map(len, self._lists.values()))

    def look(self) -> None:
        """After each round."""
        self._checkpoint.look(max(0, self._n_whole - self._kept))

    def collect(self) -> tuple[int, Any, Any]:
        """What a part shall hold; it is not new after that."""
        first, self._kept = self._kept, max(self._kept, self._n_whole)
        content = {name: held[first : self._kept] for name, held in self._lists.items()}
        return self._kept - first, content, None


def check_numbers(*lists: list[Any]) -> None:
    """Refuse lists of a checkpoint that hold anything but numbers."""
    if not all(isinstance(value, float) for held in lists for value in held):
        raise ModelFileError("The checkpoint holds something else where a number is expected.")


def lists_in_checkpoint(checkpoint: CheckpointWriter | None, *names: str) -> dict[str, list[Any]]:
    """The lists that the parts of a checkpoint hold, from their first entries."""
    lists: dict[str, list[Any]] = {name: [] for name in names}
    for content in [] if checkpoint is None else checkpoint.known:
        with reading_checkpoint():
            same = set(content) == set(names) and len({len(held) for held in content.values()}) == 1
            if not same or not all(type(held) is list for held in content.values()):
                raise ModelFileError("The checkpoint holds other lists than those of such a fit.")
            for name in names:
                lists[name] += content[name]
    return lists
