"""How the members of a gang exchange whole numbers: what all kinds of gangs share, and a gang of threads."""

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from coterie.boosting.shards import Words

_IN_PARTS = 32_768  # words from which on three members and more send one another parts of them


class GangAborted(Exception):
    """The gang has ended before its work was done: a member was lost, or failed; others need not look for the cause.

    `lost` is the address of the member that does not answer, if that is why.
    """

    def __init__(self, reason: str, lost: str | None = None) -> None:
        super().__init__(reason, lost)
        self.reason, self.lost = reason, lost


def combined(kind: str, parts: Sequence[Words]) -> Words:
    """What all members get for what they brought, which is in the order of their rows."""
    if kind == "gather":
        return np.concatenate(parts)
    if len({len(part) for part in parts}) > 1:
        raise GangAborted(f"Members brought different numbers of words to '{kind}'.")
    both: np.ufunc = np.add if kind == "sum" else np.maximum
    total: Words = both(parts[0], parts[1]) if len(parts) > 1 else parts[0]
    for part in parts[2:]:
        both(total, part, out=total)
    return total


def exchanged(
    kind: str, words: Words, n_members: int, swap: Callable[[str, Sequence[Words]], list[Words]]
) -> Words:
    """What this member gets for its words.

    `swap` sends words to each member, and returns what each has sent to this one; all members call it as often.
    Few words go to everybody. Of many, each member combines a part for all: as many bytes for any number of members.
    """
    if n_members == 1:
        return words
    if kind == "gather" or n_members == 2 or len(words) < _IN_PARTS:
        return combined(kind, swap(kind, [words] * n_members))
    edges = [len(words) * place // n_members for place in range(n_members + 1)]
    own = combined(kind, swap(kind, [words[begin:end] for begin, end in pairwise(edges)]))
    return np.concatenate(swap("parts", [own] * n_members))


class ThreadGang:
    """Members that are threads of one process."""

    def __init__(self, n_members: int) -> None:
        self._size = n_members
        self._condition = threading.Condition()
        self._brought: dict[int, dict[int, tuple[str, Words]]] = {}
        self._answers: dict[int, tuple[Words, set[int]]] = {}
        self._failure: GangAborted | None = None

    def member(self, rank: int) -> "ThreadMember":
        return ThreadMember(self, rank)

    def abort(self, reason: str) -> None:
        """End the calls of all members, those that wait and those to come."""
        with self._condition:
            self._failure = self._failure or GangAborted(reason)
            self._condition.notify_all()

    def exchange(self, rank: int, step: int, kind: str, words: Words) -> Words:
        with self._condition:
            if self._failure is not None:
                raise self._failure
            brought = self._brought.setdefault(step, {})
            brought[rank] = (kind, words)
            if len(brought) == self._size:
                self._answer(step)
            while step not in self._answers:
                if self._failure is not None:
                    raise self._failure
                self._condition.wait()
            answer, waiting = self._answers[step]
            waiting.discard(rank)
            if not waiting:
                del self._answers[step]
            return answer.copy()

    def _answer(self, step: int) -> None:
        brought = self._brought.pop(step)
        kinds = {kind for kind, _ in brought.values()}
        if len(kinds) > 1:
            self._failure = GangAborted(f"Members make different calls: {sorted(kinds)}.")
        else:
            parts = [brought[rank][1] for rank in range(self._size)]
            self._answers[step] = combined(kinds.pop(), parts), set(range(self._size))
        self._condition.notify_all()


class ThreadMember:
    """The collective of one thread of a `ThreadGang`."""

    def __init__(self, gang: ThreadGang, rank: int) -> None:
        self._gang, self._rank, self._step = gang, rank, 0

    def _exchange(self, kind: str, words: Words) -> Words:
        self._step += 1
        return self._gang.exchange(self._rank, self._step, kind, words)

    def sum(self, words: Words) -> Words:
        return self._exchange("sum", words)

    def max(self, words: Words) -> Words:
        return self._exchange("max", words)

    def gather(self, words: Words) -> Words:
        return self._exchange("gather", words)
