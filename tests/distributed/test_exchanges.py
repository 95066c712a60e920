"""Exchanges of words: the answer of each kind, in one piece or in parts, and how many of them a tree takes."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from coterie import GradientBoostingClassifier
from coterie.distributed import collective
from coterie.distributed.collective import GangAborted, combined, exchanged
from tests.helpers.streamed import FEATURES, mixed_table, pieces
from tests.helpers.thread_cluster import fitted_by_threads


def all_exchange(kind: str, words: list[Any]) -> tuple[list[Any], int]:
    """What each member gets, and how many words the first one has sent to others."""
    n_members = len(words)
    meeting, sent = Barrier(n_members), [[[] for _ in words] for _ in words]
    n_sent = 0

    def member(rank: int) -> Any:
        def swap(_: str, outgoing: Any) -> list[Any]:
            nonlocal n_sent
            if rank == 0:
                n_sent += sum(len(own) for own in outgoing[1:])
            sent[rank] = list(outgoing)
            meeting.wait(10)
            got = [sent[other][rank] for other in range(n_members)]
            meeting.wait(10)
            return got

        return exchanged(kind, words[rank], n_members, swap)

    with ThreadPoolExecutor(n_members) as pool:
        return list(pool.map(member, range(n_members))), n_sent


@pytest.mark.parametrize("n_members", [1, 2, 3, 5])
@pytest.mark.parametrize("n_words", [1, 7, 40_000])
def test_every_member_gets_what_plain_numpy_says(n_members: int, n_words: int) -> None:
    rng = np.random.default_rng(n_members)
    words = [rng.integers(0, 2**64, n_words, dtype=np.uint64) for _ in range(n_members)]
    expected = {
        "sum": np.sum(words, axis=0, dtype=np.uint64),
        "max": np.max(words, axis=0),
        "gather": np.concatenate(words),
    }
    for kind, answer in expected.items():
        before = [own.copy() for own in words]
        found, _ = all_exchange(kind, words)
        for own in found:
            np.testing.assert_array_equal(own, answer)
        np.testing.assert_array_equal(words, before)


def test_many_words_are_sent_in_parts() -> None:
    words = [np.ones(60_000, np.uint64) for _ in range(5)]
    _, n_sent = all_exchange("sum", words)
    assert n_sent == 2 * 4 * 12_000
    _, n_sent = all_exchange("sum", words[:2])
    assert n_sent == 60_000


def test_words_of_different_numbers_are_refused() -> None:
    with pytest.raises(GangAborted, match="different numbers of words"):
        combined("sum", [np.ones(2, np.uint64), np.ones(3, np.uint64)])


def test_a_tree_takes_few_exchanges(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    exchange = collective.ThreadMember._exchange

    def counting(self: Any, kind: str, words: Any) -> Any:
        if self._rank == 0:
            counted.append(kind)
        return exchange(self, kind, words)

    monkeypatch.setattr(collective.ThreadMember, "_exchange", counting)
    frame = mixed_table(0, 3000)
    frame["two"] = np.where(frame["number"] > 3, "yes", "no")
    parts = [{"X": part[FEATURES], "y": part["two"]} for part in pieces(frame, [1500])]

    def grown(n_trees: int) -> int:
        counted.clear()
        model = GradientBoostingClassifier(
            n_estimators=n_trees, subsample=1.0, max_leaf_nodes=31, random_state=0
        )
        fitted_by_threads(model, parts, 2)
        return len(counted)

    each = (grown(6) - grown(2)) / 4
    # Sizes, units, the root, and about as many batches of leaves as the tree is deep.
    assert each <= 18, each
