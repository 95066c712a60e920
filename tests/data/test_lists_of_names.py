"""Names in messages: all of a few, the first of many, and the nearest one."""

import pytest

from coterie.data.table_files.suggestions import guessed, listed


@pytest.mark.parametrize(
    ("n_names", "text"),
    [
        (0, ""),
        (1, "'a'"),
        (3, "'a', 'b', 'c'"),
        (4, "'a', 'b', 'c' and 1 more"),
        (6, "'a', 'b', 'c' and 3 more"),
    ],
)
def test_the_first_of_many_names_are_listed_and_the_others_counted(n_names: int, text: str) -> None:
    assert listed("abcdef"[:n_names], most=3) == text


def test_eight_names_are_listed_unless_it_is_said_how_many() -> None:
    assert listed("abcdefgh").count("'") == 16
    assert listed("abcdefghi").endswith("'h' and 1 more")


def test_the_nearest_name_is_guessed_and_nothing_where_none_is_near() -> None:
    assert guessed("prise", ["price", "area"]) == "Did you mean 'price'?"
    assert guessed("xyz", ["price", "area"]) is None
